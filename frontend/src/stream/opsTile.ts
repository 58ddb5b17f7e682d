/** The tile of a steered program: operations a second, by the signal in effect. */

import type { ViewInput } from "./chartView";
import { signalName, signalUnit } from "./steerText";
import type { TileView } from "./views";

const POINTS = 60;

/** The last interval's operations a second; none while nothing steers. */
export function opsTile({ model, span, now_s }: ViewInput): readonly TileView[] {
  const band = model.steer.bandAt(now_s);
  if (band === null) return [];
  const end_s = Math.min(span.t1_s, now_s);
  const decisions = model.steer.between(band.from_s, now_s);
  const last = decisions.at(-1);
  const tile: TileView = {
    id: "ops",
    label: band.proxy ? "Proxy signal" : "Ops",
    unit: signalUnit(band.signal),
    state: last === undefined ? "waiting" : "ok",
    reason: last === undefined ? "waiting for the first interval" : "",
    value: last?.rate ?? Number.NaN,
    second: null,
    first_label: "",
    spark: model.steer.rates.sampled(span.t0_s, end_s, POINTS),
    usual: null,
  };
  const name = signalName(band.signal);
  const note = band.proxy
    ? `Signal: ${name}, a proxy for operations; lower confidence.`
    : `Signal: ${name}, over the last interval.`;
  return [{ ...tile, note }];
}
