/**
 * Totals and current rates of all fields. Rates are relative to a copy of the counters one to two
 * seconds old. Two alternating copies avoid keeping the whole past of every field. In a chosen
 * window rates are means over the window.
 */

import { RING_FIELDS } from "./chartSpecs";
import type { Stretches } from "./history";
import { rateBetween } from "./rate";
import type { TargetModel } from "./targetModel";
import { PROCESS_SLOT } from "./threads";
import type { Span } from "./window";

const SPAN_S = 1;

export class RateBase {
  /** Seconds since attach of the older copy; NaN if none. */
  time_s = Number.NaN;
  /** Counters of that copy, laid out as the model's `latest`. */
  values = new Float64Array(0);
  private newerTime_s = Number.NaN;
  private newer = new Float64Array(0);

  /** Record the counters; called after each frame. */
  note(now_s: number, latest: Float64Array): void {
    if (Number.isNaN(this.time_s)) {
      this.time_s = now_s;
      this.values = latest.slice();
      this.newerTime_s = now_s;
      this.newer = latest.slice();
    } else if (now_s - this.newerTime_s >= SPAN_S * (1 - 1e-6)) {
      this.time_s = this.newerTime_s;
      const spare = this.values;
      this.values = this.newer;
      this.newerTime_s = now_s;
      this.newer = spare.length === latest.length ? spare : new Float64Array(latest.length);
      this.newer.set(latest);
    }
  }

  /** Slot reused by another owner, without a past. */
  clear(slot: number, width: number): void {
    for (const values of [this.values, this.newer]) {
      values.fill(Number.NaN, slot * width, (slot + 1) * width);
    }
  }

  /** Return an immutable copy. */
  frozen(): RateBase {
    const copy = new RateBase();
    copy.time_s = this.time_s;
    copy.values = this.values.slice();
    return copy;
  }

  /**
   * Units per second since the older copy; NaN if there is not enough data yet, the field is
   * absent, or it was reset.
   */
  rate(now_s: number, latest: Float64Array, at: number): number {
    const before = this.values[at] ?? Number.NaN;
    return rateBetween(before, latest[at] ?? Number.NaN, now_s - this.time_s);
  }
}

/** Counters at the current (or frozen) instant, and at the earlier copy. */
export interface CurrentRates {
  readonly now_s: number;
  readonly latest: Float64Array;
  readonly base: RateBase;
}

/** Source of counters: the model. */
interface RateSource {
  readonly now_s: number;
  readonly counters: { readonly latest: Float64Array };
  readonly rateBase: RateBase;
}

/** Rates over the model's own arrays, which keep changing. */
export function movingRates({ now_s, counters, rateBase }: RateSource): CurrentRates {
  return { now_s, latest: counters.latest, base: rateBase };
}

/** Copied rates, for a paused view. */
export function frozenRates({ now_s, counters, rateBase }: RateSource): CurrentRates {
  return { now_s, latest: counters.latest.slice(), base: rateBase.frozen() };
}

/** Raw units per second of the value at an index of `latest`. */
export function rateAt({ now_s, latest, base }: CurrentRates, at: number): number {
  return base.rate(now_s, latest, at);
}

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
