/** Sparklines: a recent rate in a few points. */

import type { Stretches } from "./history";
import { rates as ratesOf } from "./rate";

/** Instants to read a counter at, for `points` slopes: all, or a relevant subset. */
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
 * @param values Cumulative, at the spans' instants.
 * @param smoothing_s As for `rates` of rate.ts; at least most of the distance of two points.
 * @returns Float32[points], counter units per second, oldest first; NaN if unknown.
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
  // Less than the full step: the distances of picked samples vary a little.
  ratesOf(time_s, values, n, Math.max(smoothing_s, 0.7 * step), rates);
  const spark = new Float32Array(points).fill(Number.NaN);
  let i = 0;
  for (let p = 0; p < points; p++) {
    // The newest sample of the p-th step; the previous step's if this one has none.
    const until = t0_s + (p + 1) * step + 1e-9;
    while (i + 1 < n && (time_s[i + 1] ?? 0) <= until) i++;
    const t = time_s[i] ?? Number.NaN;
    if (t <= until && t > until - 2 * step - smoothing_s) spark[p] = rates[i] ?? Number.NaN;
  }
  return spark;
}
