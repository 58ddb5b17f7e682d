/**
 * Totals and current rates of all fields. Rates are relative to a copy of the counters one to two
 * seconds old. Two alternating copies avoid keeping the whole past of every field.
 */

import { rateBetween } from "./rate";

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
