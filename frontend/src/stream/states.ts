/**
 * Thread states, as recorded by the ledger: time in each state, and the current one. Numbers are
 * those of the field `state` (shared/schemas/fields.json).
 */

import type { Target } from "../wire/generated/models";

/** Groups of states; one colour each. */
export type StateGroup =
  | "running"
  | "runnable"
  | "throttled"
  | "locks"
  | "disk"
  | "network"
  | "pipes"
  | "faults"
  | "other"
  | "parked"
  | "polling"
  | "sleep";

/** Names of groups, for legends; work first. */
export const GROUP_NAMES: Readonly<Record<StateGroup, string>> = {
  running: "Running",
  runnable: "Waiting for a CPU",
  throttled: "Throttled by a CPU limit",
  locks: "Locks",
  disk: "Disk and files",
  network: "Network",
  pipes: "Pipes and events",
  faults: "Page faults",
  other: "Other waits",
  polling: "Polling",
  sleep: "Sleeping",
  parked: "Parked, at a condition or unknown lock",
};

/** Whether somebody is in a thread's way, as far as that is known. */
export type Nature = "running" | "runnable" | "throttled" | "blocked" | "idle" | "unknown";

/** Natures in words, within a sentence. */
export const NATURE_NAMES: Readonly<Record<Nature, string>> = {
  running: "running",
  runnable: "waiting for a CPU",
  throttled: "throttled by a CPU limit",
  blocked: "blocked",
  idle: "idle",
  unknown: "unknown",
};

/**
 * Nature of the states of a group. Some states of blocked groups are idle ones; see
 * `ThreadState.idle`.
 */
export const GROUP_NATURES: Readonly<Record<StateGroup, Nature>> = {
  running: "running",
  runnable: "runnable",
  throttled: "throttled",
  locks: "blocked",
  disk: "blocked",
  network: "blocked",
  pipes: "blocked",
  faults: "blocked",
  other: "blocked",
  polling: "idle",
  sleep: "idle",
  parked: "unknown",
};

interface Described {
  readonly id: string;
  readonly group: StateGroup;
  /** Name within a sentence: "Waiting for a lock or condition (futex)". */
  readonly name: string;
  /** The thread has nothing to do: it waits for work by nature. */
  readonly idle?: true;
}

/** States by number, from 1. Field names derive from IDs: `state_ID_ns`. */
const DESCRIBED = [
  { id: "on_cpu", group: "running", name: "Running" },
  { id: "preempted", group: "runnable", name: "Waiting for a CPU, preempted" },
  { id: "woken", group: "runnable", name: "Waiting for a CPU after wake-up" },
  { id: "futex", group: "locks", name: "Waiting for a lock or condition (futex)" },
  { id: "poll", group: "polling", name: "Waiting for events (epoll, poll, sigwait)", idle: true },
  { id: "sleep", group: "sleep", name: "Sleeping (timer)", idle: true },
  { id: "socket_receive", group: "network", name: "Receiving from a socket" },
  { id: "socket_send", group: "network", name: "Sending to a socket" },
  {
    id: "socket_accept",
    group: "network",
    name: "Waiting for a connection (accept)",
    idle: true,
  },
  { id: "socket_connect", group: "network", name: "Connecting a socket" },
  { id: "pipe", group: "pipes", name: "Waiting for a pipe, event or terminal" },
  { id: "file_read", group: "disk", name: "Reading a file" },
  { id: "file_read_disk", group: "disk", name: "Reading a file from disk" },
  { id: "file_write", group: "disk", name: "Writing a file" },
  { id: "file_write_disk", group: "disk", name: "Writing a file to disk" },
  { id: "file_sync", group: "disk", name: "Syncing a file" },
  { id: "file_sync_disk", group: "disk", name: "Syncing a file to disk" },
  { id: "page_fault", group: "faults", name: "Page fault" },
  { id: "page_fault_disk", group: "disk", name: "Page fault, reading from disk" },
  { id: "child", group: "other", name: "Waiting for a child process", idle: true },
  { id: "io_uring", group: "other", name: "Waiting for io_uring" },
  { id: "stopped", group: "other", name: "Stopped, traced or frozen" },
  { id: "other_call", group: "other", name: "In another system call" },
  { id: "other", group: "other", name: "Waiting in the kernel" },
  { id: "throttled", group: "throttled", name: "Throttled by the CPU limit of the control group" },
] as const satisfies readonly Described[];

/** ID of a state: the name within its field. */
export type StateId = (typeof DESCRIBED)[number]["id"];

/** A state of threads. */
export interface ThreadState {
  /** Value of the field `state`, from 1. */
  readonly number: number;
  readonly id: StateId;
  /** Field with the time of finished stays, ns. */
  readonly field: string;
  readonly name: string;
  readonly group: StateGroup;
  readonly idle: boolean;
}

/** All states; number n is at index n - 1. */
export const STATES: readonly ThreadState[] = DESCRIBED.map(
  (each: Described & { id: StateId }, i) => ({
    number: i + 1,
    id: each.id,
    field: `state_${each.id}_ns`,
    name: each.name,
    group: each.group,
    idle: each.idle === true,
  }),
);

/** Field of the state that only some kernels report (Linux 6.18 and newer). */
export const THROTTLED_FIELD = "state_throttled_ns";

/** Numbers of the states on a CPU, of lock waits, and of polls. */
export const ON_CPU = STATES.findIndex(({ id }) => id === "on_cpu") + 1;
export const FUTEX = STATES.findIndex(({ id }) => id === "futex") + 1;
const POLL = STATES.findIndex(({ id }) => id === "poll") + 1;

/** Fields of a thread's current state, and its start. */
export const STATE_FIELD = "state";
export const SINCE_FIELD = "state_since_ns";

/** The state with a number; undefined for 0 (ended), or a state of a later collector. */
export function stateNumbered(number: number): ThreadState | undefined {
  return STATES[number - 1];
}

/** Whether a catalogue field belongs to ledgers. */
export function isLedgerField(field: string): boolean {
  return field === STATE_FIELD || field.startsWith("state_");
}

/**
 * Time of a thread in a state: finished stays, plus the stay in progress if the thread is in that
 * state. A thread that stays in its state sends nothing.
 * @param finished_ns Field of the state.
 * @param number The state.
 * @param current The thread's current state (field `state`).
 * @param since_ns Its start (field `state_since_ns`).
 * @param t_ns The instant, since attach.
 */
export function timeInState(
  finished_ns: number,
  number: number,
  current: number,
  since_ns: number,
  t_ns: number,
): number {
  return current === number && t_ns > since_ns ? finished_ns + (t_ns - since_ns) : finished_ns;
}

/** Whether a target provides state ledgers. */
export function hasLedger({ fields, source }: Pick<Target, "fields" | "source">): boolean {
  return source.ledger === true && fields.some(isLedgerField);
}

/** Kinds of states, by what is known of a thread's waits: see `waitShares`. */
export type StateKind = "parked" | "held";

/** Numbers of these kinds in cells, following the states' numbers. */
export const PARKED = STATES.length + 1;
export const HELD = PARKED + 1;
/** Number of possible cell values, including 0. */
export const CELL_STATES = HELD + 1;

interface KindOfState {
  readonly kind: StateKind;
  /** Number of the state that it is a kind of, and its own one. */
  readonly state: number;
  readonly number: number;
  readonly group: StateGroup;
  readonly name: string;
}

export const KINDS_OF_STATES: readonly KindOfState[] = [
  {
    ...{ kind: "parked", state: FUTEX, number: PARKED, group: "parked" },
    name: "Parked, at a condition, or at a lock that is not known (futex)",
  },
  {
    ...{ kind: "held", state: POLL, number: HELD, group: "locks" },
    name: "Waiting for each other (epoll, poll)",
  },
];

/** The kind that a state may be of. */
export function kindOfState(state: number): KindOfState | undefined {
  return KINDS_OF_STATES.find((each) => each.state === state);
}

export function kindNamed(part: string): KindOfState | undefined {
  return KINDS_OF_STATES.find(({ kind }) => kind === part);
}

/** The state with a number in cells, or the kind of one. */
export function cellState(number: number): ThreadState | KindOfState | undefined {
  return stateNumbered(number) ?? KINDS_OF_STATES.find((each) => each.number === number);
}

export function cellStateName(number: number): string {
  return cellState(number)?.name ?? "";
}

/** A state's share of a cell's time. */
export interface StateShare {
  /** Number of the state, or of a kind of one. */
  readonly number: number;
  /** Share from 0 to 1, in whole percents. */
  readonly share: number;
}

/** Content of a cell beside its dominant state. */
interface CellParts {
  /** Shares of the dominant, second and third state, 0 to 1; 0 if none. */
  readonly shares: readonly [number, number, number];
  readonly second: number;
  readonly third: number;
  /** The threads had no context switch since attach: the state is from /proc. */
  readonly unswitched: boolean;
}

const SHARE_BITS = 7;
const STATE_BITS = 5;
const SECOND = 3 * SHARE_BITS;
const THIRD = SECOND + STATE_BITS;
const MARK = THIRD + STATE_BITS;

/** Pack a cell into one number. */
export function packCell({ shares, second, third, unswitched }: CellParts): number {
  const [a, b, c] = shares.map((share) => Math.round(100 * share));
  const percents = (a ?? 0) | ((b ?? 0) << SHARE_BITS) | ((c ?? 0) << (2 * SHARE_BITS));
  const states = (second << SECOND) | (third << THIRD);
  return (percents | states | (unswitched ? 1 << MARK : 0)) >>> 0;
}

/** Shares of a cell's states, largest first, at least half a percent each. */
export function sharesOfCell(dominating: number, cell: number): readonly StateShare[] {
  const percent = (place: number) => ((cell >>> (place * SHARE_BITS)) & 127) / 100;
  const state = (place: number) => (cell >>> place) & 31;
  return [
    { number: dominating, share: percent(0) },
    { number: state(SECOND), share: percent(1) },
    { number: state(THIRD), share: percent(2) },
  ].filter(({ number, share }) => number > 0 && share > 0);
}

/** Whether the threads of a cell had no context switch since attach. */
export function isUnswitched(cell: number): boolean {
  return cell >>> MARK === 1;
}
