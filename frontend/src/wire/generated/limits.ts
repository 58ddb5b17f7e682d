// Generated from shared/schemas by tools/generate.py. Do not edit.

/** Characters of a token or a collector's secret that is given; shorter ones are refused at start. */
export const MIN_SECRET = 16;

/** Largest frame, and so the largest WebSocket message that a collector may send: what no connection carries is in no run and in no response. */
export const MAX_FRAME_BYTES = 67_108_864;

/** Largest header of a frame. */
export const MAX_HEADER_BYTES = 33_554_432;

/** Largest body of an HTTP request; imported runs and traces have bounds of their own. */
export const MAX_BODY_BYTES = 1_048_576;

/** Largest archive of an imported run. */
export const MAX_IMPORT_BYTES = 4_294_967_296;

/** Largest document of traces that is imported, and largest request of spans once it is unpacked. */
export const MAX_TRACES_BYTES = 67_108_864;

/** Largest message of a page. */
export const MAX_PAGE_COMMAND_BYTES = 4_096;

/** Largest message to a collector. */
export const MAX_COLLECTOR_COMMAND_BYTES = 4_194_304;

/** Largest answer of a collector to a command; a longer list is cut, and says so. */
export const MAX_REPLY_BYTES = 8_388_608;

/** Frames in flight to a page that acknowledges frames. */
export const MAX_UNACKNOWLEDGED_FRAMES = 32;

/** Bytes in flight to a page that acknowledges frames; one frame may exceed it. */
export const MAX_UNACKNOWLEDGED_BYTES = 1_048_576;

/** Targets that one page may subscribe to. */
export const MAX_SUBSCRIPTIONS = 8;

/** Roles in a frame's header, the one for all others included. */
export const MAX_ROLES = 64;

/** Frames in a part of a run; a part is sealed at the next key frame. */
export const RUN_PART_BYTES = 67_108_864;

/** Time in a part of a run; a part is sealed at the next key frame. */
export const RUN_PART_SECONDS = 60;

/** Longest time that births, ends and names of threads wait in the collector before a frame has them. */
export const LIFECYCLE_WAIT_SECONDS = 2;

/** Frames that one request for a run's frames may ask for. */
export const MAX_RUN_FRAMES = 5_000;

/** Runs in a comparison. */
export const MIN_COMPARED_RUNS = 2;

/** Runs in a comparison. */
export const MAX_COMPARED_RUNS = 8;

/** Characters in a run's name. */
export const MAX_RUN_NAME = 120;

/** Tags of a run. */
export const MAX_RUN_TAGS = 32;

/** Characters in a tag. */
export const MAX_TAG = 40;

/** Characters in the name of a group of repeats. */
export const MAX_RUN_GROUP = 80;

/** Characters in a run's notes. */
export const MAX_RUN_NOTES = 20_000;

/** Characters in a mark's text. */
export const MAX_MARK_TEXT = 200;

/** Rules by which a target's threads have roles. */
export const MAX_ROLE_RULES = 64;

/** Roles that a person corrects for one target, beside those that the collector was started with. */
export const MAX_OWN_ROLE_RULES = 32;

/** Rows of a table of a frame. */
export const MAX_TABLE_ROWS = 65_536;

/** Live processes of a group that is a target. */
export const MAX_GROUP_PROCESSES = 4_096;

/** Rows of ended processes in the table of a group's processes, each of one name; the last one is of all others. */
export const MAX_FOLDED_PROCESSES = 1_024;

/** Bytes of a title in the table of a group's processes. */
export const MAX_PROCESS_TITLE = 128;
