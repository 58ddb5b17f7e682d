/** Sparklines: a recent rate in few points. */

import type { Stretches } from "./history";
import { rates as ratesOf } from "./rate";

/** Instants to know a counter at, for `points` slopes: all, or of many those that matter. */
export function pickPoints(
  { n, time_s }: Pick<Stretches, "n" | "time_s">,
  t0_s: number,
  t1_s: number,
  points: number,
): Int32Array {
  if (n <= 4 * points) return Int32Array.from({ length: n }, (_, i) => i);
  const step = (t1_s - t0_s) / points;
  const picks: number[] = [];
  let i = 0;
  for (let p = -1; p <= points; p++) {
    while (i + 1 < n && (time_s[i + 1] ?? 0) <= t0_s + p * step + 1e-9) i++;
    if (picks.at(-1) !== i) picks.push(i);
  }
  return Int32Array.from(picks);
}

/**
 * Slopes of a cumulative counter at `points` evenly spaced moments of a span.
 *
 * @param values Cumulative, at the stretches' instants.
 * @param smoothing_s As for `rates` of rate.ts; no less than most of the distance of two points is used.
 * @returns Float32[points], counter units per second, oldest first; NaN where there is none.
 */
export function sparkline(
  stretches: Pick<Stretches, "n" | "time_s">,
  values: Float64Array,
  t0_s: number,
  t1_s: number,
  points: number,
  smoothing_s: number,
): Float32Array {
  const { n, time_s } = stretches;
  const step = (t1_s - t0_s) / points;
  const rates = new Float64Array(n);
  // Not all of it: samples that were picked lie a little nearer or farther than that.
  ratesOf(time_s, values, n, Math.max(smoothing_s, 0.7 * step), rates);
  const spark = new Float32Array(points).fill(Number.NaN);
  let i = 0;
  for (let p = 0; p < points; p++) {
    // The newest sample of the p-th step; the step before if this one has none.
    const until = t0_s + (p + 1) * step + 1e-9;
    while (i + 1 < n && (time_s[i + 1] ?? 0) <= until) i++;
    const t = time_s[i] ?? Number.NaN;
    if (t <= until && t > until - 2 * step - smoothing_s) spark[p] = rates[i] ?? Number.NaN;
  }
  return spark;
}
