/** A finding, and the evidence that rules evaluate. */

import { AMONG_THEM, type LockIdentity, type LockKind, WAITS_TOO } from "../facts/lockNames";
import { formatDuration, formatNumber, formatPercent, formatValue } from "../format";
import type { GoroutinesView } from "../goroutines";
import type { LimitsView } from "../limits";
import type { LocksView, LockThread } from "../locks";
import type { AcceptQueue, LockedFile, QueuesView } from "../queues";
import { STATES, type StateId } from "../states";
import type { CgroupView, TakersView } from "../takers";
import type { ThreadKey } from "../viewRequest";
import type { ShownUnit } from "../views";
import type { WakePartner, WakesView } from "../wakes";
import type { Span } from "../window";
/** Place in the page that shows the data of a finding. */
export type FindingLink =
  /** A lock, or CPUs if null. */
  | { readonly panel: "waiting"; readonly lock: number | null }
  /** Sizes and operations. */
  | { readonly panel: "gomaxprocs" }
  | { readonly panel: "goroutines" }
  | { readonly panel: "wakes"; readonly key: ThreadKey }
  | { readonly panel: "times"; readonly key: ThreadKey };

/** A part of the window, in seconds since attach. */
export interface When extends Span {
  /** True if the part began within the window. */
  readonly began: boolean;
  /** True if the part ended within the window. */
  readonly over: boolean;
  /** Number of further, shorter parts. */
  readonly more: number;
}

/** A measured number with its unit, as text, and what it says: "12.3 %", "of its time on a CPU". */
export interface Measured {
  readonly value: string;
  readonly what: string;
}

export type ThreeNumbers = readonly [Measured, Measured, Measured];

/** A number of a finding. `what` has the noun of a count, and the words of a rate ("waits a second"). */
export function measured(value: number, unit: ShownUnit, what: string): Measured {
  return { value: unit === "1/s" ? formatNumber(value, unit) : formatValue(value, unit), what };
}

/** A length of time of a finding. */
export function measuredTime(seconds: number, what: string): Measured {
  return { value: formatDuration(seconds), what };
}

/** A notable observation with its evidence. */
export interface Finding {
  /** Rule and subject: a recurring finding keeps its ID. */
  readonly id: string;
  /** One sentence with its figures. */
  readonly text: string;
  /** A clause that ends the sentence, after the code of its lock. */
  readonly also?: string;
  /** The three numbers that say most about the cause, whatever the sentence says. */
  readonly numbers: ThreeNumbers;
  /** Further measurements, the time that all are of, and the threshold. */
  readonly evidence: string;
  /** Suggested remedy, one sentence. */
  readonly advice: string;
  /** measured: the figures name the cause; likely: they fit it, and another cause seldom. */
  readonly confidence: "measured" | "likely";
  readonly link: FindingLink;
  /** Thread-seconds per second concerned; larger weights are listed first. */
  readonly weight: number;
  /** Part of the window in which it holds, to which its figures refer; the whole one if omitted. */
  readonly when?: When;
}

/** Times of threads within the window, in seconds; NaN if unknown. */
export interface TimesOf {
  readonly wall: number;
  readonly cpu: number;
  /** Runnable, not running. */
  readonly queue: number;
  /** Waiting for a disk. */
  readonly disk: number;
  /** Idle by nature: polling, sleeping, accepting, waiting for work. Needs the ledger. */
  readonly idle: number;
  /** Seconds in each state, by state number; null without a ledger. */
  readonly states: Float64Array | null;
  /** At locks where threads wait for work or for a lock: the kernel cannot tell which. */
  readonly parked: number;
  /** On a CPU within the kernel. */
  readonly system: number;
  /** Minor page faults. */
  readonly faults: number;
  /** Number of stays on a CPU, and of those shorter than 33 µs; 0 without a ledger. */
  readonly runs: number;
  readonly short_runs: number;
  /** Bytes from and to disks, and calls of sockets. */
  readonly moved: number;
}

export interface ThreadTimes extends TimesOf {
  readonly key: ThreadKey;
  readonly tid: number;
  readonly name: string;
  readonly role: string;
  /** The thread's process in a group, such as "nginx (4711)"; else "". */
  readonly process: string;
  /** Since attach, in seconds; infinite while it lives. */
  readonly born_s: number;
  readonly ended_s: number;
}

export interface RoleTimes extends TimesOf {
  readonly key: ThreadKey;
  readonly role: string;
  /** In a group, the process or the number of processes with its threads; else "". */
  readonly process: string;
  /** Number of threads that lived within the window. */
  readonly threads: number;
  /** Threads of the role alive at the window's end, born within it, born in its second half. */
  readonly live: number;
  readonly born: number;
  readonly late: number;
  /** Total lifetime in seconds, and number, of threads born and ended within the window. */
  readonly short_s: number;
  readonly short: number;
  /** Number of threads that synced files. */
  readonly syncing: number;
  /** Whether threads have the name of their main thread, too: they may be of several pools. */
  readonly unnamed: boolean;
  /** Number of main threads among them. */
  readonly mains: number;
  /** Seconds at futexes of threads that never ran within the window. */
  readonly unused: number;
}

/** A thread that polls, and its time on a CPU in stretches that are long for an event loop. */
export interface EventLoop {
  readonly thread: ThreadTimes;
  readonly polls: number;
  /** Reads and writes of sockets. */
  readonly calls: number;
  readonly long: number;
  /** Seconds in these stretches, at least. */
  readonly long_s: number;
  /** Times in which it runs and hardly waits or calls a socket, and their CPU time. */
  readonly stalls: number;
  readonly stalled_s: number;
  /** Typical number of waits and calls of sockets for a second on a CPU. */
  readonly serves_per_s: number;
  /** Waits in calls that are long for an event loop: their number, seconds at least, and state. */
  readonly held: number;
  readonly held_s: number;
  readonly held_in: StateId | null;
  /**
   * Whether it is the main thread of a process that listens at a port, or another one of it that
   * sleeps at futexes, as a JVM's.
   */
  readonly listens: boolean;
}

export interface LockEvidence {
  readonly lock: LocksView["locks"][number];
  readonly waiters: readonly LockThread[];
  readonly wakers: readonly LockThread[];
}

/** A thread that has waited at a futex for a while, at the window's end. */
export interface StuckThread {
  readonly thread: ThreadTimes;
  readonly seconds: number;
  /** The lock, if somebody holds it; null if it may as well be a wait for work. */
  readonly lock: LockIdentity | null;
  /** Number of the lock, or 0; a reader may take several for one. */
  readonly number: number;
  /** The thread that holds the lock, or null if unknown. */
  readonly holder: ThreadTimes | null;
}

/** A process whose title says that it waits, or keeps something, and that sleeps meanwhile. */
export interface TitledStay {
  readonly thread: ThreadTimes;
  /** Last words of the title: what the process says that it does. */
  readonly says: string;
  /** Length of the sleep that lasts at the window's end, in seconds. */
  readonly seconds: number;
}

/**
 * How often a role's polls and reads of sockets end by answers of processes that it connected to, and
 * by all others.
 */
export interface Asking {
  readonly role: string;
  /** "process row-store (12)", or "3 processes of postgres". */
  readonly peer: string;
  readonly connections: number;
  readonly answers_per_s: number;
  readonly others_per_s: number;
  /** Threads that wait until an answer comes, and until anything comes, on average. */
  readonly waiting: number;
  readonly listening: number;
  /** Writes to sockets a second, of all threads of the role. */
  readonly writes_per_s: number;
}

/** Processes with a queue or a lock, in words and in figures. */
export interface Queuers {
  /** "3 processes of gunicorn", or "nginx (4711)". */
  readonly name: string;
  /** The role that most of these threads have. */
  readonly key: ThreadKey;
  /** Threads on average that serve: those that call sockets, or all if none does. */
  readonly threads: number;
  /** Shares of their time on a CPU or waiting for one, asleep, and polling or accepting. */
  readonly running: number;
  readonly sleeping: number;
  readonly accepting: number;
}

export interface AcceptEvidence extends AcceptQueue {
  readonly by: Queuers;
}

export interface FileEvidence extends LockedFile {
  readonly by: Queuers;
}

/** Queues of the target with who serves them. */
export interface QueueEvidence extends Omit<QueuesView, "accepting" | "files"> {
  readonly accepting: readonly AcceptEvidence[];
  readonly files: readonly FileEvidence[];
}

/** Threads of one process that began together and have the name of its main thread. */
export interface Cohort {
  readonly main: ThreadTimes;
  readonly threads: readonly ThreadTimes[];
  /** How often a second they wake the main thread, in sum, and the least of one. */
  readonly wakes_per_s: number;
  readonly least_per_s: number;
}

/** Measurements of a window. */
export interface Evidence {
  /** Length of the window, in seconds. */
  readonly seconds: number;
  /** Seconds before the window's end whose ended threads are all known; older ones are forgotten. */
  readonly ends_s: number;
  /** Whether a state ledger was kept. */
  readonly ledger: boolean;
  readonly roles: readonly RoleTimes[];
  /** Threads that ran, or could have, nearly all the time, and the threads each one wakes. */
  readonly saturated: readonly {
    readonly thread: ThreadTimes;
    readonly wakees: readonly WakePartner[];
  }[];
  readonly loops: readonly EventLoop[];
  readonly locks: readonly LockEvidence[];
  readonly gil: LocksView["gil"];
  readonly stuck: readonly StuckThread[];
  readonly titled: readonly TitledStay[];
  readonly wakes: WakesView;
  readonly takers: TakersView;
  readonly cgroup: CgroupView | null;
  readonly limits: LimitsView;
  readonly goroutines: GoroutinesView;
  readonly queues: QueueEvidence;
  readonly asking: readonly Asking[];
  readonly cohorts: readonly Cohort[];
  /** Whether the program is Go's: its threads park without work, and its locks have no threads. */
  readonly go: boolean;
  /** Whether the target is a group, whose roles may be of several processes. */
  readonly grouped: boolean;
}

/** A rule that derives findings from evidence. Pure. */
export interface Rule {
  /** Subject, for the list of examined subjects: "locks". */
  readonly subject: string;
  /** Requires the ledger; skipped without one. */
  readonly ledger: boolean;
  /**
   * Reason why the subject cannot be examined; "" if it can, null if the program has no such
   * subject.
   */
  readonly lacks?: (evidence: Evidence) => string | null;
  /** Judged over the whole window only: a part of it tells too little. */
  readonly whole?: true;
  /**
   * @param ease Factor on a finding's thresholds: below 1 for a finding already shown (hysteresis).
   */
  readonly find: (evidence: Evidence, ease: (id: string) => number) => readonly Finding[];
}

/** Hysteresis: a finding that is there stays until below this share of its thresholds. */
export const EASE = 0.8;

/** A name with its process; the process alone if that has the name, too. */
export function withProcess(name: string, process: string): string {
  if (process.startsWith(`${name} (`)) return process;
  return process === "" ? name : `${name} of ${process}`;
}

/** A role with its process; threads without a name are distinguished from the main ones. */
export function nameOfRole({ role, process, threads, mains, unnamed }: RoleTimes): string {
  const split = unnamed && mains > 0 ? ` (${mains} main + ${threads - mains} others)` : "";
  return `${withProcess(role, process)}${split}`;
}

/** A threshold as text: whole percent. */
export function percent(share: number): string {
  return formatPercent(share);
}

/** Lock kinds where waiting means idle, or waiting for an end. */
export const IDLE_KINDS: readonly LockKind[] = ["park", "condition", "join"];

/** Share of a lock's wake-ups by threads that also wait for the lock. */
export function amongThem({ waiters, wakers }: LockEvidence): number {
  const longest = waiters.reduce((most, { wait }) => Math.max(most, wait), 0);
  const those = waiters.filter(({ wait }) => wait >= WAITS_TOO * longest);
  const waiting = new Set(those.map(({ tid }) => tid));
  let all = 0;
  let among = 0;
  for (const { tid, wakes_per_s } of wakers) {
    all += wakes_per_s;
    if (waiting.has(tid)) among += wakes_per_s;
  }
  return all > 0 ? among / all : 0;
}

/** Share of a lock's wake-ups by its waiters, below which it is a semaphore that hands on work. */
const HANDED_ON = 0.1;

/** Minimum share of waits that threads end: timers end the others, where a JVM's threads sleep. */
const RELEASED = 0.25;

/**
 * Whether threads hold each other up at a lock: by the program's own symbols, or by who releases it.
 * Others may be queues that threads wait at. The GIL has a rule of its own.
 */
export function isContended(each: LockEvidence): boolean {
  const { kind, symbol_file, count, waits_per_s } = each.lock;
  if (kind === "gil" || IDLE_KINDS.includes(kind)) return false;
  // The releaser has held it, even if that thread never waits.
  if (kind === "mutex") return true;
  const wakes_per_s = each.wakers.reduce((sum, { wakes_per_s }) => sum + wakes_per_s, 0);
  if (symbol_file === "" && wakes_per_s < RELEASED * waits_per_s) return false;
  const surely = kind !== "unknown" && (symbol_file !== "" || count > 1);
  const among = amongThem(each);
  return surely ? wakes_per_s === 0 || among >= HANDED_ON : among >= AMONG_THEM;
}

/** Seconds of a role or a thread in states, by their IDs; 0 without a ledger. */
export function inStates({ states }: TimesOf, ...ids: readonly StateId[]): number {
  return ids.reduce((sum, id) => sum + (states?.[NUMBERS.get(id) ?? 0] ?? 0), 0);
}

/** Threads in a sync on average, if they take turns: one nearly always, hardly ever two. */
const ALONE = [0.7, 1.1] as const;

/** Whether several threads of roles sync files one at a time, nearly always. */
export function syncInTurns(roles: readonly RoleTimes[], seconds: number): boolean {
  const threads = roles.reduce((sum, { syncing }) => sum + syncing, 0);
  const sync = roles.reduce((sum, each) => sum + inStates(each, "file_sync", "file_sync_disk"), 0);
  return threads > 1 && sync >= ALONE[0] * seconds && sync <= ALONE[1] * seconds;
}

/** Seconds of a role or a thread at futexes that nobody holds it up at; NaN without a ledger. */
export function idleAtFutexes(times: TimesOf): number {
  return Math.max(0, times.idle - inStates(times, ...IDLE_STATES));
}

const IDLE_STATES = STATES.flatMap(({ id, idle }) => (idle ? [id] : []));

const NUMBERS: ReadonlyMap<StateId, number> = new Map(STATES.map(({ id, number }) => [id, number]));

const DOING = [
  ["compute", ["on_cpu", "preempted", "woken"]],
  ["wait for pipes or devices", ["pipe"]],
  ["wait for the disk", ["file_read_disk", "file_write_disk", "file_sync", "file_sync_disk"]],
  ["read and write files", ["file_read", "file_write"]],
  ["wait for the network", ["socket_receive", "socket_send", "socket_connect"]],
  ["sleep", ["sleep"]],
] as const;

/** Main activity of threads, or of threads of roles, in words. */
export function mainActivity(...threads: readonly TimesOf[]): string {
  const sums = DOING.map(([what, states]) => {
    const seconds = threads.reduce((sum, each) => sum + inStates(each, ...states), 0);
    return [what, seconds] as const;
  });
  const [what] = sums.reduce((a, b) => (b[1] > a[1] ? b : a));
  return `mostly ${what}`;
}
