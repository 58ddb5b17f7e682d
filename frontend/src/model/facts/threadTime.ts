/** How long threads lived within a span, and how much their counters grew in it. */

import type { RingField } from "../chartSpecs";
import type { ViewInput } from "../chartView";
import { increase } from "../rate";
import { ringOf } from "../series";
import type { TargetModel } from "../targetModel";
import type { Thread } from "../threads";

/** Seconds that a thread lived within a span; before it was seen nothing is known of it. */
export function lifeWithin(model: TargetModel, thread: Thread, t0_s: number, t1_s: number): number {
  const start_s = thread.start_ns / 1e9;
  const from_s = start_s >= model.since_s ? start_s : thread.seen_s;
  const until_s = Math.min(
    thread.end_s ?? Number.POSITIVE_INFINITY,
    start_s + (thread.life_s ?? Number.POSITIVE_INFINITY),
  );
  return Math.max(0, Math.min(until_s, t1_s) - Math.max(from_s, t0_s));
}

/** Thread-seconds of all threads that fit the filter within a span. */
export function wallWithin({ model, filter }: ViewInput, t0_s: number, t1_s: number): number {
  let sum = 0;
  for (const thread of model.threads.all()) {
    if (filter.fits(thread)) sum += lifeWithin(model, thread, t0_s, t1_s);
  }
  return sum;
}

/** Growth of a counter of a thread within a span, raw units; NaN if it is not known. */
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
  // Born within the span it began with nothing.
  const fresh = Number.isNaN(before) && thread.start_ns / 1e9 >= model.since_s;
  return increase(fresh ? 0 : before, after, 1);
}
