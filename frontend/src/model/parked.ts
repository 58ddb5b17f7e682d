/** Waits for locks at which idle workers wait: they are no waits of work. */

import type { TargetModel } from "./targetModel";

/** Share of each thread's waits for locks that is at such locks, by tid; those with none are not in it. */
export function parkedShares(_model: TargetModel): ReadonlyMap<number, number> {
  return new Map();
}
