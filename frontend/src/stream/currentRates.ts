/**
 * Totals and current rates of all fields. Rates are measured against the counters as they were one
 * to two seconds ago. Two copies take turns, so that the whole past need not be kept for every field.
 */

import { rateBetween } from "./rate";

const SPAN_S = 1;

export class RateBase {
  /** Seconds since attach of the older copy; NaN while there is none. */
  time_s = Number.NaN;
  /** Counters then, laid out as the model's `latest`. */
  values = new Float64Array(0);
  private newerTime_s = Number.NaN;
  private newer = new Float64Array(0);

  /** Called after each frame. */
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

  /** A slot has another owner, which has no past. */
  clear(slot: number, width: number): void {
    for (const values of [this.values, this.newer]) {
      values.fill(Number.NaN, slot * width, (slot + 1) * width);
    }
  }

  /** A copy that stays as it is. */
  frozen(): RateBase {
    const copy = new RateBase();
    copy.time_s = this.time_s;
    copy.values = this.values.slice();
    return copy;
  }

  /** Units a second since the older copy; NaN: not enough data yet, absent, or reset since. */
  rate(now_s: number, latest: Float64Array, at: number): number {
    const before = this.values[at] ?? Number.NaN;
    return rateBetween(before, latest[at] ?? Number.NaN, now_s - this.time_s);
  }
}

/** Counters of the moment, or of the one that the view is frozen at, and what they were before. */
export interface CurrentRates {
  readonly now_s: number;
  readonly latest: Float64Array;
  readonly base: RateBase;
}

/** What has counters: the model. */
interface RateSource {
  readonly now_s: number;
  readonly counters: { readonly latest: Float64Array };
  readonly rateBase: RateBase;
}

/** The model's own arrays: they go on changing. */
export function movingRates({ now_s, counters, rateBase }: RateSource): CurrentRates {
  return { now_s, latest: counters.latest, base: rateBase };
}

/** Copies, for a view that is paused. */
export function frozenRates({ now_s, counters, rateBase }: RateSource): CurrentRates {
  return { now_s, latest: counters.latest.slice(), base: rateBase.frozen() };
}

/** Raw units a second of the value at an index of `latest`. */
export function rateAt({ now_s, latest, base }: CurrentRates, at: number): number {
  return base.rate(now_s, latest, at);
}
