/**
 * Checks of what comes in at the edge. They look at everything the page relies on; what fits is
 * then trusted as the generated type. Each answers with the value, or with a sentence that says
 * what was wrong.
 */

import type { FrameHeader, Host, LiveMessage, Target, TargetEvent } from "./generated/models";

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): boolean => typeof value === "string";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isArray = (value: unknown): boolean => Array.isArray(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const orNull =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || check(value);
const isTotals = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every(isNumber);
const listOf =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every(check);
const shaped =
  (shape: Shape) =>
  (value: unknown): boolean =>
    misfit(value, shape) === null;

/** Name of the first member that does not fit; null if all do. */
function misfit(value: unknown, shape: Shape): string | null {
  if (!isObject(value)) return "it is not an object";
  for (const [name, check] of Object.entries(shape)) {
    if (!check(value[name])) return `${name} is ${JSON.stringify(value[name])?.slice(0, 80)}`;
  }
  return null;
}

const EVENTS: Readonly<Record<TargetEvent["type"], Shape>> = {
  thread_born: { tid: isCount, start_ns: isNumber, name: isText },
  thread_renamed: { tid: isCount, name: isText, previous: isText },
  thread_exited: {
    tid: isCount,
    start_ns: isNumber,
    name: isText,
    totals: isTotals,
    exact: isFlag,
    seen_alive: isFlag,
  },
  target_exited: { exit_code: orNull(isNumber) },
  target_detached: {},
  rate_changed: { rate_hz: isNumber, previous_hz: isNumber },
  rate_adapted: {
    rate_hz: isNumber,
    previous_hz: isNumber,
    requested_hz: isNumber,
    overhead_percent: isNumber,
    budget_percent: isNumber,
  },
  deadlines_missed: { count: isCount },
  exit_records_lost: { count: isCount },
  gap: { from_seq: isCount, to_seq: isCount, reason: isText },
  gomaxprocs_changed: { size: isNumber, previous: isNumber },
  sample_failed: { reason: isText },
  steering_started: {
    policy: isText,
    shadow: isFlag,
    knob: isText,
    signal: isText,
    proxy: isFlag,
    lower: isCount,
    upper: isCount,
    size: isCount,
    actor: isText,
  },
  steering_decided: {
    policy: isText,
    at_ns: isNumber,
    elapsed_s: isNumber,
    ops: isNumber,
    mean_wait_s: orNull(isNumber),
    size: isCount,
    next_size: isCount,
    proposed: orNull(isCount),
    state: isText,
    reason: isText,
    counted: isFlag,
    probing: isFlag,
  },
  search_restarted: { policy: isText, reason: isText, actor: isText },
  steering_released: { policy: isText, size: isCount, actor: isText },
  steering_problem: { policy: isText, problem: orNull(isText) },
};

const HEADER: Shape = {
  target: isText,
  seq: isCount,
  first_seq: isCount,
  kind: (value) => value === "key" || value === "delta",
  baseline: isFlag,
  rows: isCount,
  time_ns: isNumber,
  unix_us: isNumber,
  live_threads: isCount,
  threads_born: isCount,
  events: isArray,
  process: shaped({ gomaxprocs: orNull(isNumber), rss_bytes: orNull(isNumber) }),
  machine: shaped({
    time_ns: isNumber,
    cpu_busy_us: orNull(isNumber),
    package_uj: orNull(isNumber),
    domains_uj: listOf(orNull(isNumber)),
    gaps: isCount,
  }),
  health: shaped({
    sample_us: isNumber,
    sample_mean_us: isNumber,
    sample_max_us: isNumber,
    late_us: isNumber,
    missed_deadlines: isCount,
    effective_hz: isNumber,
    requested_hz: isNumber,
    exit_records_received: isCount,
    exit_records_lost: isCount,
    cpu_percent: orNull(isNumber),
    overhead_percent: orNull(isNumber),
    budget_percent: isNumber,
    replay_bytes: isNumber,
    replay_frames: isNumber,
    unsent_frames: isNumber,
    sent_frames: isNumber,
    sent_bytes: isNumber,
  }),
  exited: shaped({ threads: isCount, inexact: isCount, totals: isTotals }),
};

function isEventType(type: unknown): type is TargetEvent["type"] {
  return typeof type === "string" && Object.hasOwn(EVENTS, type);
}

/** Check a frame's header. An event of a type that this page does not know is refused, by name. */
export function checkFrameHeader(value: unknown): FrameHeader | string {
  const wrong = misfit(value, HEADER);
  if (wrong !== null) return wrong;
  const header = value as FrameHeader;
  if (header.first_seq > header.seq) return `first_seq ${header.first_seq} is above ${header.seq}`;
  for (const event of header.events as readonly unknown[]) {
    const type = isObject(event) ? event.type : undefined;
    if (!isEventType(type)) return `unknown event ${JSON.stringify(type)}`;
    const member = misfit(event, EVENTS[type]);
    if (member !== null) return `event ${type}: ${member}`;
  }
  return header;
}

const PROBLEM: Shape = {
  type: isText,
  title: isText,
  status: isCount,
  detail: isText,
  hint: isText,
};

const PROCESS: Shape = {
  pid: isCount,
  name: isText,
  command: isText,
  started_unix_ms: isNumber,
  runtime: isText,
  threads: isCount,
  ports: isArray,
};

const STEERING: Shape = {
  policy: isText,
  parameters: isTotals,
  shadow: isFlag,
  knob: isText,
  signal: isText,
  proxy: isFlag,
  lower: isCount,
  upper: isCount,
  original: isCount,
  size: isCount,
  state: isText,
  reason: isText,
  decisions: isCount,
  since_unix_us: isNumber,
  problem: orNull(isText),
};

const isTarget = (value: unknown): value is Target =>
  shaped({
    id: isText,
    host: isText,
    process: shaped(PROCESS),
    state: isText,
    rate_hz: isNumber,
    attached_unix_us: isNumber,
    source: shaped({ kind: isText, reason: isText, exits: isFlag, network: isText }),
    energy: shaped({ domains: listOf(shaped({ name: isText, summed: isFlag })), reason: isText }),
    fields: listOf(isText),
    absent: listOf(shaped({ field: isText, reason: isText })),
    gomaxprocs: orNull(isNumber),
    gomaxprocs_reason: isText,
    steering: orNull(shaped(STEERING)),
  })(value);

const isHost = (value: unknown): value is Host =>
  shaped({ id: isText, name: isText, cpus: isCount, connected: isFlag, collector: isObject })(
    value,
  );

const MESSAGES: Readonly<Record<LiveMessage["type"], Shape>> = {
  live_state: { hosts: listOf(isHost), targets: listOf(isTarget) },
  stream_stats: {
    sent: isCount,
    coalesced: isCount,
    dropped: isCount,
    queue: isCount,
    clients: isCount,
  },
  frames_lost: { target: isText, from_seq: isCount, to_seq: isCount, reason: isText },
  live_problem: { problem: shaped(PROBLEM) },
};

function isMessageType(type: unknown): type is LiveMessage["type"] {
  return typeof type === "string" && Object.hasOwn(MESSAGES, type);
}

/** Check a text message of /ws/live. */
export function checkLiveMessage(text: string): LiveMessage | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `not JSON: ${text.slice(0, 80)}`;
  }
  const type = isObject(value) ? value.type : undefined;
  if (!isMessageType(type)) return `unknown message ${JSON.stringify(type)}`;
  const wrong = misfit(value, MESSAGES[type]);
  return wrong === null ? (value as LiveMessage) : `${type}: ${wrong}`;
}
