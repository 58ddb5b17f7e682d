/**
 * The time axis shared by all charts. Rates over a chosen time span: in a zoomed window numbers are
 * means.
 */

import { RING_FIELDS } from "./chartSpecs";
import { type CurrentRates, RateBase } from "./currentRates";
import type { Stretches } from "./history";
import type { TargetModel } from "./targetModel";
import { PROCESS_SLOT } from "./threads";
import type { TimeWindow } from "./viewRequest";

/** Ends of the time axis, seconds since attach. */
export interface Span {
  readonly t0_s: number;
  readonly t1_s: number;
}

export function sameSpan(a: Span, b: Span): boolean {
  return a.t0_s === b.t0_s && a.t1_s === b.t1_s;
}

/**
 * Step of a live axis. Lines grow with every sample; the axis moves at most twice a second, since
 * each move repeats the layout of axes. In long windows a step is at least about two pixels.
 */
export function axisStep(seconds: number): number {
  return Math.max(0.5, seconds / 240);
}

/**
 * Lengths of a growing axis. It does not grow with each sample, which would redraw everything and
 * continually stretch the pictures.
 */
const LENGTHS_S = [10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700];

/**
 * Ends of the axis for a window.
 * @param now_s Newest instant (or freeze instant).
 * @param from_s Oldest available instant: a longer window is shortened to about the available
 * range.
 */
export function spanOf(window: TimeWindow, now_s: number, from_s = Number.NEGATIVE_INFINITY): Span {
  if (window.kind === "fixed") {
    return { t0_s: window.t0_s, t1_s: Math.max(window.t1_s, window.t0_s + 0.1) };
  }
  const grown = LENGTHS_S.find((length) => length >= now_s - from_s) ?? window.seconds;
  const seconds = Math.min(window.seconds, grown);
  const step = axisStep(seconds);
  const t1_s = Math.ceil(now_s / step - 1e-9) * step;
  return { t0_s: t1_s - seconds, t1_s };
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
