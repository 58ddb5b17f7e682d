/** Waits for locks at which idle workers wait: they are no waits of work. */

import { LOCKS } from "./facts/facts";
import { parkLocks } from "./facts/lockNames";
import type { TargetModel } from "./targetModel";

/** Share of each thread's waits for locks that is at such locks, by tid; those with none are not in it. */
export function parkedShares(model: TargetModel): ReadonlyMap<number, number> {
  const parks = parkLocks(model);
  const shares = new Map<number, number>();
  if (parks.size === 0) return shares;
  const { locks } = model.facts;
  const sums = new Map<number, { all: number; parked: number }>();
  for (const slot of locks.all()) {
    const tid = locks.key(slot, LOCKS.tid);
    const wait_ns = locks.total(slot, LOCKS.wait_ns);
    const sum = sums.get(tid) ?? { all: 0, parked: 0 };
    sum.all += wait_ns;
    if (parks.has(locks.key(slot, LOCKS.lock))) sum.parked += wait_ns;
    sums.set(tid, sum);
  }
  for (const [tid, { all, parked }] of sums) if (parked > 0) shares.set(tid, parked / all);
  return shares;
}
