/** Waits of idle workers for locks, which are not waits during work. */

import { LOCKS } from "./facts/facts";
import { lockNames } from "./facts/lockNames";
import type { TargetModel } from "./targetModel";

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
