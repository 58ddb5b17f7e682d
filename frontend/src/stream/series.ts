/** The counter of one thread (or the process) over a time span, read from the history. */

import type { ChartItem } from "./chartItem";
import type { RingField } from "./chartSpecs";
import { RING_FIELDS } from "./chartSpecs";
import type { Stretches } from "./history";
import type { TargetModel } from "./targetModel";
import { PROCESS_SLOT } from "./threads";

export function ringOf(field: RingField): number {
  return RING_FIELDS.indexOf(field);
}

/** Cumulative values of a thread as the kernel reported them; NaN outside its lifetime. */
export function readThread(
  model: TargetModel,
  stretches: Stretches,
  thread: ChartItem,
  ring: number,
  out: Float64Array,
): void {
  model.history.read(stretches, thread.slot, ring, thread.sinceBlock, out);
  if (thread.end_s === null) return;
  for (let i = stretches.n - 1; i >= 0 && (stretches.time_s[i] ?? 0) > thread.end_s; i--) {
    out[i] = Number.NaN;
  }
}

/**
 * Times of a thread's samples: its exit record is dated to the exit, before the sample that
 * delivered it.
 * @returns The spans' own times if unchanged.
 */
export function timesOf(
  { n, time_s }: Stretches,
  { start_ns, life_s, end_s }: ChartItem,
): Float64Array {
  if (end_s === null || life_s === null) return time_s;
  let last = n - 1;
  while (last >= 0 && (time_s[last] ?? 0) > end_s) last--;
  const exit_s = start_ns / 1e9 + life_s;
  if (last < 1 || !(exit_s > (time_s[last - 1] ?? 0) && exit_s < (time_s[last] ?? 0)))
    return time_s;
  const times = time_s.slice();
  times[last] = exit_s;
  return times;
}

/** Cumulative values of the process, ended threads included. */
export function readProcess(
  model: TargetModel,
  stretches: Stretches,
  ring: number,
  out: Float64Array,
): void {
  model.history.read(stretches, PROCESS_SLOT, ring, 0, out);
}

/** First value of a slot's counter. */
export function firstOf(model: TargetModel, slot: number, ring: number): number {
  return model.counters.first[slot * RING_FIELDS.length + ring] ?? Number.NaN;
}

/**
 * Contribution of a thread to a sum over the shown ones: 0 before the thread was seen, its final
 * value after its end. Adds to `sum`.
 */
export function addToSum(
  values: Float64Array,
  n: number,
  first: number,
  thread: ChartItem,
  time_s: Float64Array,
  sum: Float64Array,
): void {
  // Before its first sample, a thread older than the attach counts as its first value.
  let held = Number.isNaN(first) ? 0 : first;
  for (let i = 0; i < n; i++) {
    const value = values[i] ?? Number.NaN;
    if (!Number.isNaN(value)) held = value;
    else if ((time_s[i] ?? 0) < thread.seen_s) held = Number.isNaN(first) ? 0 : first;
    sum[i] = (sum[i] ?? 0) + held;
  }
}

/** Mean distance of columns, seconds. */
export function stepOf(time_s: Float64Array): number {
  const last = time_s.length - 1;
  return last > 0 ? ((time_s[last] ?? 0) - (time_s[0] ?? 0)) / last : 0;
}
