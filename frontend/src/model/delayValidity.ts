/**
 * Delays that cannot be: longer than the thread lived. Linux 6.12 and newer may count a wait for block
 * I/O with what was before it (docs/measurement.md). Where there is a ledger it says how long it was.
 */

import { STATES, timeInState } from "./states";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";

/** Counters of delay accounting; none can be more than the thread's life. */
const DELAYS: ReadonlySet<string> = new Set([
  ...["blkio_delay_ns", "swapin_delay_ns", "reclaim_delay_ns", "thrashing_delay_ns"],
  ...["compact_delay_ns", "wpcopy_delay_ns", "irq_delay_ns"],
]);

/** States that are waits for block I/O. */
const DISK = STATES.filter(({ id }) => id.endsWith("_disk"));

/** Start times come from ages and clock ticks. */
const SLACK_NS = 100e6;

/** Whether a total of a field is more than a thread can have had until an instant. */
export function isInvalid(thread: Thread, field: string, total: number, now_s: number): boolean {
  if (!DELAYS.has(field)) return false;
  const end_s = Math.min(thread.end_s ?? now_s, now_s);
  const life_ns = thread.life_s === null ? 1e9 * end_s - thread.start_ns : 1e9 * thread.life_s;
  return total > life_ns + SLACK_NS;
}

/** What the ledger says in its place, ns since attach; NaN where it does not. */
export function ledgerDelay(
  { states }: TargetModel,
  thread: Thread,
  field: string,
  now_s: number,
): number {
  const current = states.currentOf(thread);
  if (field !== "blkio_delay_ns" || !current) return Number.NaN;
  const end_s = Math.min(thread.end_s ?? now_s, now_s);
  return DISK.reduce((sum, { number }) => {
    const finished = states.finishedOf(thread, number);
    return sum + timeInState(finished, number, current.number, 1e9 * current.since_s, 1e9 * end_s);
  }, 0);
}
