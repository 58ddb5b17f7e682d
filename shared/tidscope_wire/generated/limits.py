"""Generated from shared/schemas by tools/generate.py. Do not edit."""

MIN_SECRET = 16
"""Characters of a token or a collector's secret that is given; shorter ones are refused at start."""
MAX_FRAME_BYTES = 67_108_864
"""Largest frame, and so the largest WebSocket message that a collector may send: what no connection carries is in no run and in no response."""
MAX_HEADER_BYTES = 33_554_432
"""Largest header of a frame."""
MAX_BODY_BYTES = 1_048_576
"""Largest body of an HTTP request; imported runs and traces have bounds of their own."""
MAX_IMPORT_BYTES = 4_294_967_296
"""Largest archive of an imported run."""
MAX_TRACES_BYTES = 67_108_864
"""Largest document of traces that is imported, and largest request of spans once it is unpacked."""
MAX_PAGE_COMMAND_BYTES = 4_096
"""Largest message of a page."""
MAX_COLLECTOR_COMMAND_BYTES = 4_194_304
"""Largest message to a collector."""
MAX_REPLY_BYTES = 8_388_608
"""Largest answer of a collector to a command; a longer list is cut, and says so."""
MAX_UNACKNOWLEDGED_FRAMES = 32
"""Frames in flight to a page that acknowledges frames."""
MAX_UNACKNOWLEDGED_BYTES = 1_048_576
"""Bytes in flight to a page that acknowledges frames; one frame may exceed it."""
MAX_SUBSCRIPTIONS = 8
"""Targets that one page may subscribe to."""
MAX_ROLES = 64
"""Roles in a frame's header, the one for all others included."""
RUN_PART_BYTES = 67_108_864
"""Frames in a part of a run; a part is sealed at the next key frame."""
RUN_PART_SECONDS = 60
"""Time in a part of a run; a part is sealed at the next key frame."""
LIFECYCLE_WAIT_SECONDS = 2
"""Longest time that births, ends and names of threads wait in the collector before a frame has them."""
MAX_RUN_FRAMES = 5_000
"""Frames that one request for a run's frames may ask for."""
MIN_COMPARED_RUNS = 2
"""Runs in a comparison."""
MAX_COMPARED_RUNS = 8
"""Runs in a comparison."""
MAX_RUN_NAME = 120
"""Characters in a run's name."""
MAX_RUN_TAGS = 32
"""Tags of a run."""
MAX_TAG = 40
"""Characters in a tag."""
MAX_RUN_GROUP = 80
"""Characters in the name of a group of repeats."""
MAX_RUN_NOTES = 20_000
"""Characters in a run's notes."""
MAX_MARK_TEXT = 200
"""Characters in a mark's text."""
MAX_ROLE_RULES = 64
"""Rules by which a target's threads have roles."""
MAX_OWN_ROLE_RULES = 32
"""Roles that a person corrects for one target, beside those that the collector was started with."""
MAX_TABLE_ROWS = 65_536
"""Rows of a table of a frame."""
MAX_GROUP_PROCESSES = 4_096
"""Live processes of a group that is a target."""
MAX_FOLDED_PROCESSES = 1_024
"""Rows of ended processes in the table of a group's processes, each of one name; the last one is of all others."""
MAX_PROCESS_TITLE = 128
"""Bytes of a title in the table of a group's processes."""
