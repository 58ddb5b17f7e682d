/** Waits for locks at which idle workers wait: they are no waits of work. */

import { LOCKS } from "./facts/facts";
import { lockNames } from "./facts/lockNames";
import type { TargetModel } from "./targetModel";

/**
 * Share of each thread's waits for locks that is at such locks, by tid; those with none are not in it.
 *
 * Threads of a Java virtual machine park while they have no work and while they wait for a contended
 * lock alike. What the machine's own account says of the latter (kind monitor) is a part of the time at
 * the park, and is not idle.
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
