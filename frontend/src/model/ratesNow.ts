/** Totals and current rates of all fields: of the moment, or of the one the view was frozen at. */

import type { RateBase } from "./rateBase";
import type { TargetModel } from "./targetModel";

export interface RatesNow {
  readonly now_s: number;
  readonly latest: Float64Array;
  readonly base: RateBase;
}

/** The model's own arrays: they go on changing. */
export function movingRates(model: TargetModel): RatesNow {
  return { now_s: model.now_s, latest: model.latest, base: model.rateBase };
}

/** Copies, for a view that is paused. */
export function frozenRates(model: TargetModel): RatesNow {
  return { now_s: model.now_s, latest: model.latest.slice(), base: model.rateBase.frozen() };
}

/** Raw units a second of the value at an index of `latest`. */
export function rateAt({ now_s, latest, base }: RatesNow, at: number): number {
  return base.rate(now_s, latest, at);
}
