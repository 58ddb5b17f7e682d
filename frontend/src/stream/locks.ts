/** Locks within the visible window: waiters, waiting times and wakers. */

import type { ViewInput } from "./chartView";
import { LOCKS } from "./facts/facts";
import type { FactTable, FactWindow } from "./facts/factTable";
import { type LockIdentity, type LockNames, lockNames, unnamedLock } from "./facts/lockNames";
import { type FactsState, leadingRole, ledgerState, UNKNOWN_NAME } from "./facts/parties";
import { heldWaits } from "./heldLocks";
import { growthWithin, wallWithin } from "./parked";
import type { Thread } from "./threads";
import type { ThreadKey } from "./viewRequest";

export interface LockThread {
  /** Thread key; null if unknown, as for a program that reports its locks as a whole. */
  readonly key: ThreadKey | null;
  readonly tid: number | null;
  readonly name: string;
  /** Null if the thread is unknown. */
  readonly role: string | null;
  readonly colour: number | null;
  /** Waiting time, as a share of the thread's lifetime. */
  readonly wait: number;
  readonly waits_per_s: number;
  /** Mean duration of a wait, in seconds; NaN without waits. */
  readonly mean_s: number;
  /** Wake-ups per second by this thread of others at this lock. */
  readonly wakes_per_s: number;
}

export interface LockRow extends LockIdentity {
  /** Thread-seconds of waiting per second. */
  readonly wait: number;
  readonly waits_per_s: number;
  readonly mean_s: number;
  /** Number of threads that waited. */
  readonly waiters: number;
  /** Share of all threads' time. */
  readonly share: number;
  /** Role that waited longest, and the role that ended most waits; "" if unknown. */
  readonly role: string;
  readonly by: string;
  /** Thread-seconds per second, oldest first. */
  readonly trend: Float32Array;
}

/** A thread's waiting for the interpreter's lock. */
export interface GilThread extends LockThread {
  /** Waiting time, as a share of the time spent waiting for the lock, running or runnable. */
  readonly of_runnable: number;
}

export interface LocksView extends FactsState {
  readonly seconds: number;
  /** Longest waits first; locks where threads are idle are in `parks`. */
  readonly locks: readonly LockRow[];
  readonly parks: readonly LockRow[];
  /** System calls that threads wait in and that have no dedicated state. */
  readonly calls: readonly LockRow[];
  /** Details of the opened lock. */
  readonly open: {
    readonly lock: number;
    readonly waiters: readonly LockThread[];
    readonly wakers: readonly LockThread[];
  } | null;
  readonly gil: readonly GilThread[];
  readonly omitted: number;
}

export interface ThreadLock extends Pick<LockRow, "lock" | "name" | "kind" | "estimated"> {
  readonly wait: number;
  readonly waits_per_s: number;
  readonly mean_s: number;
  readonly wakes_per_s: number;
}

const POINTS = 40;
/** Maximum number of rows sent with a trend; further rows appear only in the process' sums. */
const MAX_ROWS = 200;
const MAX_THREADS = 50;

interface Waits {
  wait_ns: number;
  waits: number;
  wakes: number;
}

interface LockSums extends Waits {
  readonly slots: number[];
  readonly waiters: Set<number>;
  /** Waiting time and wake-ups, by role. */
  readonly waited: Map<string, number>;
  readonly woke: Map<string, number>;
}

export function locksView(input: ViewInput, open: number | null): LocksView {
  const { model, span, now_s } = input;
  const { locks } = model.facts;
  const end_s = Math.min(span.t1_s, now_s);
  const window = locks.window(span.t0_s, end_s);
  const { seconds } = window;
  const base = ledgerState(input, window);
  const none = { seconds, locks: [], parks: [], calls: [], open: null, gil: [] };
  const { omitted } = locks;
  if (base.state !== "ok") return { ...base, ...none, omitted };
  const names = lockNames(model);
  const sums = sumUp(input, names, window);
  const identityOf = (lock: number) => names.get(lock) ?? unnamedLock(lock);
  const order = Array.from(sums).sort(([a, x], [b, y]) => y.wait_ns - x.wait_ns || a - b);
  const wall_s = wallWithin(input, window.t0_s, window.t1_s);
  const rows = order.slice(0, MAX_ROWS).map(([lock, sum]): LockRow => {
    const wait = sum.wait_ns / 1e9 / seconds;
    return {
      ...identityOf(lock),
      wait,
      waits_per_s: sum.waits / seconds,
      mean_s: sum.waits > 0 ? sum.wait_ns / 1e9 / sum.waits : Number.NaN,
      waiters: sum.waiters.size,
      share: sum.wait_ns / 1e9 / wall_s,
      role: leadingRole(sum.waited),
      by: leadingRole(sum.woke),
      trend: trendOf(input, window, sum.slots, end_s),
    };
  });
  const gil = rows.find(({ kind }) => kind === "gil");
  return {
    ...base,
    ...none,
    omitted,
    locks: rows.filter(({ kind }) => kind !== "park" && kind !== "call"),
    parks: rows.filter(({ kind }) => kind === "park"),
    calls: rows.filter(({ kind }) => kind === "call"),
    open: open === null ? null : { lock: open, ...threadsAt(input, window, open) },
    gil: gil ? gilThreads(input, threadsAt(input, window, gil.lock).waiters) : [],
  };
}

/** Locks at which a thread waited or woke others, longest waits first. */
export function threadLocks(input: ViewInput, tid: number): readonly ThreadLock[] {
  const { model, span, now_s } = input;
  const { locks } = model.facts;
  const window = locks.window(span.t0_s, Math.min(span.t1_s, now_s));
  const names = lockNames(model);
  const sums = new Map<number, Waits>();
  for (const slot of locks.all()) {
    if (locks.key(slot, LOCKS.tid) !== tid) continue;
    addWaits(sums, numberOf(names, locks.key(slot, LOCKS.lock)), locks, window, slot);
  }
  const found = Array.from(sums, ([number, waits]): ThreadLock => {
    const { lock, name, kind, estimated } = names.get(number) ?? unnamedLock(number);
    return { lock, name, kind, estimated, ...figuresOf(waits, window.seconds) };
  });
  return found.sort((a, b) => b.wait - a.wait || a.lock - b.lock);
}

function sumUp(input: ViewInput, names: LockNames, window: FactWindow): Map<number, LockSums> {
  const { model, filter } = input;
  const { locks } = model.facts;
  const threads = model.threads.byTid;
  const all = new Map<number, LockSums>();
  for (const slot of locks.all()) {
    const tid = locks.key(slot, LOCKS.tid);
    if (!fits(filter, threads.get(tid), tid, input.request.filter)) continue;
    const wait_ns = locks.grown(window, slot, LOCKS.wait_ns);
    const waits = locks.grown(window, slot, LOCKS.waits);
    const wakes = locks.grown(window, slot, LOCKS.wakes);
    if (wait_ns + waits + wakes === 0) continue;
    const sums = sumsAt(all, numberOf(names, locks.key(slot, LOCKS.lock)));
    sums.slots.push(slot);
    sums.wait_ns += wait_ns;
    sums.waits += waits;
    sums.wakes += wakes;
    if (wait_ns > 0 || waits > 0) sums.waiters.add(tid);
    const role = threads.get(tid)?.role ?? "";
    if (wait_ns > 0) sums.waited.set(role, (sums.waited.get(role) ?? 0) + wait_ns);
    if (wakes > 0) sums.woke.set(role, (sums.woke.get(role) ?? 0) + wakes);
  }
  addHeld(input, names, window, all);
  return all;
}

/** Add waits under way. */
function addHeld(
  { model, filter }: ViewInput,
  names: LockNames,
  { t0_s, t1_s, seconds }: FactWindow,
  all: Map<number, LockSums>,
): void {
  for (const { thread, lock, holder, since_s } of heldWaits(model, t0_s, t1_s)) {
    if (!filter.fits(thread)) continue;
    const sums = sumsAt(all, numberOf(names, lock));
    const wait_ns = 1e9 * Math.min(seconds, Math.max(0, t1_s - since_s));
    sums.wait_ns += wait_ns;
    sums.waiters.add(thread.tid);
    sums.waited.set(thread.role, (sums.waited.get(thread.role) ?? 0) + wait_ns);
    const by = model.threads.byTid.get(holder)?.role;
    if (by !== undefined && sums.woke.size === 0) sums.woke.set(by, 0);
  }
}

function sumsAt(all: Map<number, LockSums>, lock: number): LockSums {
  const held = all.get(lock);
  if (held) return held;
  const fresh = { slots: [], waiters: new Set<number>(), ...NO_WAITS };
  const sums = { ...fresh, waited: new Map<string, number>(), woke: new Map<string, number>() };
  all.set(lock, sums);
  return sums;
}

const NO_WAITS = { wait_ns: 0, waits: 0, wakes: 0 };

/** The number of what a reader takes for one lock. */
function numberOf(names: LockNames, lock: number): number {
  return names.get(lock)?.lock ?? lock;
}

function fits(
  filter: ViewInput["filter"],
  thread: Thread | undefined,
  tid: number,
  source: string,
): boolean {
  // Values without a thread belong to the whole process.
  return thread ? filter.fits(thread) : source === "" || filter.fits({ tid, name: "", role: "" });
}

function trendOf(
  { model, span }: ViewInput,
  window: FactWindow,
  slots: readonly number[],
  end_s: number,
): Float32Array {
  const { locks } = model.facts;
  const trend = locks.trend(window, slots, LOCKS.wait_ns, span.t0_s, end_s, POINTS);
  return trend.map((ns) => ns / 1e9);
}

/** Threads at a lock: waiters and wakers. */
export function lockThreads(
  input: ViewInput,
  lock: number,
): Omit<NonNullable<LocksView["open"]>, "lock"> {
  const { model, span, now_s } = input;
  const window = model.facts.locks.window(span.t0_s, Math.min(span.t1_s, now_s));
  return threadsAt(input, window, lock);
}

function threadsAt(
  { model }: ViewInput,
  window: FactWindow,
  lock: number,
): { waiters: readonly LockThread[]; wakers: readonly LockThread[] } {
  const { locks } = model.facts;
  const names = lockNames(model);
  const known = model.threads.byTid;
  const sums = new Map<number, Waits>();
  for (const slot of locks.all()) {
    if (numberOf(names, locks.key(slot, LOCKS.lock)) !== lock) continue;
    addWaits(sums, locks.key(slot, LOCKS.tid), locks, window, slot);
  }
  const threads = Array.from(sums, ([tid, waits]): LockThread => {
    const thread = known.get(tid);
    return {
      key: thread?.key ?? null,
      tid: tid === 0 ? null : tid,
      name: thread?.name ?? UNKNOWN_NAME,
      role: thread?.role ?? null,
      colour: thread?.colour ?? null,
      ...figuresOf(waits, window.seconds),
    };
  });
  const by = (value: (thread: LockThread) => number): LockThread[] =>
    threads
      .filter((thread) => value(thread) > 0)
      .sort((a, b) => value(b) - value(a) || (a.tid ?? 0) - (b.tid ?? 0))
      .slice(0, MAX_THREADS);
  return { waiters: by(({ wait }) => wait), wakers: by(({ wakes_per_s }) => wakes_per_s) };
}

/** Add what a row grew within a window to the sums of a key; rows that did not grow add nothing. */
function addWaits(
  sums: Map<number, Waits>,
  key: number,
  locks: FactTable,
  window: FactWindow,
  slot: number,
): void {
  const wait_ns = locks.grown(window, slot, LOCKS.wait_ns);
  const waits = locks.grown(window, slot, LOCKS.waits);
  const wakes = locks.grown(window, slot, LOCKS.wakes);
  if (wait_ns + waits + wakes === 0) return;
  const sum = sums.get(key) ?? { ...NO_WAITS };
  sums.set(key, sum);
  sum.wait_ns += wait_ns;
  sum.waits += waits;
  sum.wakes += wakes;
}

function figuresOf({ wait_ns, waits, wakes }: Waits, seconds: number) {
  return {
    wait: wait_ns / 1e9 / seconds,
    waits_per_s: waits / seconds,
    mean_s: waits > 0 ? wait_ns / 1e9 / waits : Number.NaN,
    wakes_per_s: wakes / seconds,
  };
}

/** Threads waiting for the GIL; on-CPU and queue times come from the threads' counters. */
function gilThreads(input: ViewInput, waiters: readonly LockThread[]): readonly GilThread[] {
  const threads = input.model.threads.byTid;
  return waiters.map((waiter) => {
    const busy = busyOf(input, waiter.tid === null ? undefined : threads.get(waiter.tid));
    return { ...waiter, of_runnable: waiter.wait / (waiter.wait + busy) };
  });
}

/** Share of time in which a thread ran or was runnable; NaN if unknown. */
function busyOf({ model, span, now_s }: ViewInput, thread: Thread | undefined): number {
  if (!thread) return Number.NaN;
  const [from, to] = [Math.max(span.t0_s, model.since_s), Math.min(span.t1_s, now_s)];
  const run_ns = growthWithin(model, thread, "cpu_run_ns", from, to);
  const queue_ns = growthWithin(model, thread, "cpu_delay_ns", from, to);
  return (run_ns + queue_ns) / 1e9 / (to - from);
}
