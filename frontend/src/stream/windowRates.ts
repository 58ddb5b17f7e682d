/** Rates over a chosen time span: in a zoomed window numbers are means. */

import { RING_FIELDS } from "./chartSpecs";
import { type CurrentRates, RateBase } from "./currentRates";
import type { Stretches } from "./history";
import type { TargetModel } from "./targetModel";
import { PROCESS_SLOT } from "./threads";
import type { Span } from "./window";

/**
 * Counters at both ends of a span, so that rates are means over the span. That includes threads
 * born within the span, averaged over all of it. Only fields with a retained past have rates;
 * totals of the others are current.
 */
export function windowRates(model: TargetModel, { t0_s, t1_s }: Span): CurrentRates {
  const { counters, history } = model;
  const stretches = history.between(t0_s, t1_s);
  const { n, time_s } = stretches;
  const base = new RateBase();
  base.time_s = time_s[0] ?? Number.NaN;
  base.values = new Float64Array(counters.latest.length).fill(Number.NaN);
  const latest = counters.latest.slice();
  const rates: CurrentRates = { now_s: time_s[n - 1] ?? Number.NaN, latest, base };
  readEnds(model, stretches, PROCESS_SLOT, 0, false, rates);
  for (const { slot, sinceBlock, start_ns } of model.threads.all()) {
    readEnds(model, stretches, slot, sinceBlock, start_ns / 1e9 >= model.since_s, rates);
  }
  return rates;
}

/** @param fresh Born during the recording: its counters began at zero. */
function readEnds(
  { counters, history }: TargetModel,
  stretches: Stretches,
  slot: number,
  sinceBlock: number,
  fresh: boolean,
  { latest, base }: CurrentRates,
): void {
  const row = slot * counters.fields.length;
  for (let ring = 0; ring < RING_FIELDS.length; ring++) {
    const column = counters.ringColumn[ring] ?? -1;
    if (column < 0) continue;
    const before = history.at(stretches, "first", slot, ring, sinceBlock);
    latest[row + column] = history.at(stretches, "last", slot, ring, sinceBlock);
    base.values[row + column] = Number.isNaN(before) && fresh ? 0 : before;
  }
}
