/**
 * Waits of idle workers for locks, which are not waits during work. Lifetime of threads within a
 * span, and growth of their counters.
 */

import type { RingField } from "./chartSpecs";
import type { ViewInput } from "./chartView";
import { LOCKS } from "./facts/facts";
import { lockNames } from "./facts/parties";
import type { Stretches } from "./history";
import { increase } from "./rate";
import { ringOf } from "./series";
import { RINGS, type StateLog } from "./stateLog";
import { STATES, timeInState } from "./states";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";

/** Seconds that a thread lived within a span; unknown before the thread was first seen. */
export function lifeWithin(model: TargetModel, thread: Thread, t0_s: number, t1_s: number): number {
  const start_s = thread.start_ns / 1e9;
  const from_s = start_s >= model.since_s ? start_s : thread.seen_s;
  const until_s = Math.min(
    thread.end_s ?? Number.POSITIVE_INFINITY,
    start_s + (thread.life_s ?? Number.POSITIVE_INFINITY),
  );
  return Math.max(0, Math.min(until_s, t1_s) - Math.max(from_s, t0_s));
}

/** Thread-seconds of all threads matching the filter within a span. */
export function wallWithin({ model, filter }: ViewInput, t0_s: number, t1_s: number): number {
  let sum = 0;
  for (const thread of model.threads.all()) {
    if (filter.fits(thread)) sum += lifeWithin(model, thread, t0_s, t1_s);
  }
  return sum;
}

/** Growth of a thread's counter within a span, raw units; NaN if unknown. */
export function growthWithin(
  model: TargetModel,
  thread: Thread,
  field: RingField,
  t0_s: number,
  t1_s: number,
): number {
  const { history } = model;
  const stretches = history.between(t0_s, t1_s);
  const ring = ringOf(field);
  const before = history.at(stretches, "first", thread.slot, ring, thread.sinceBlock);
  const after = history.at(stretches, "last", thread.slot, ring, thread.sinceBlock);
  // A thread born within the span began with zero.
  const fresh = Number.isNaN(before) && thread.start_ns / 1e9 >= model.since_s;
  return increase(fresh ? 0 : before, after, 1);
}

/** Seconds of a thread in each state within a time span, by state number; null without a ledger. */
export function statesWithin(
  states: StateLog,
  stretches: Stretches,
  thread: Thread,
): Float64Array | null {
  const { n, time_s } = stretches;
  const own = states.sinceBlock(thread);
  const at = (end: "first" | "last", ring: number): number =>
    states.history.at(stretches, end, thread.slot, ring, own);
  const current = at("last", RINGS.current);
  if (n < 2 || Number.isNaN(current)) return null;
  const seconds = new Float64Array(STATES.length + 1);
  // A thread that appeared within the span had no state at its beginning.
  const before = at("first", RINGS.current);
  const fresh = Number.isNaN(before);
  for (const number of states.present) {
    const ring = RINGS.ofState(number);
    const t0_ns = 1e9 * (time_s[0] ?? 0);
    const t1_ns = 1e9 * (time_s[n - 1] ?? 0);
    const start = fresh
      ? 0
      : timeInState(at("first", ring), number, before, at("first", RINGS.since), t0_ns);
    const end = timeInState(at("last", ring), number, current, at("last", RINGS.since), t1_ns);
    seconds[number] = Math.max(0, known(end) - known(start)) / 1e9;
  }
  return seconds;
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

/**
 * Share of each thread's lock waits that is idle parking, by tid; threads without any are missing.
 * JVM threads park both without work and at a contended lock. The JVM's own account of contended
 * waits (kind monitor) is part of the parking time, and is not idle.
 */
export function parkedShares(model: TargetModel): ReadonlyMap<number, number> {
  const kinds = lockNames(model);
  const shares = new Map<number, number>();
  const { locks } = model.facts;
  const sums = new Map<number, { all: number; parked: number; contended: number }>();
  for (const slot of locks.all()) {
    const kind = kinds.get(locks.key(slot, LOCKS.lock))?.kind;
    if (kind === "call") continue;
    const tid = locks.key(slot, LOCKS.tid);
    const wait_ns = locks.total(slot, LOCKS.wait_ns);
    const sum = sums.get(tid) ?? { all: 0, parked: 0, contended: 0 };
    if (kind === "monitor") sum.contended += wait_ns;
    else sum.all += wait_ns;
    if (kind === "park") sum.parked += wait_ns;
    sums.set(tid, sum);
  }
  for (const [tid, { all, parked, contended }] of sums) {
    const idle = parked - contended;
    if (idle > 0) shares.set(tid, idle / all);
  }
  return shares;
}
