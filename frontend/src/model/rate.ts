/**
 * Rates from raw cumulative counters and real elapsed time. Live, replay and compare all use this
 * one function.
 */

/**
 * Slope of a counter at each of its samples: the mean over the last `smoothing_s` or a little more,
 * that is back to the newest sample at least that old. Over a stretch without older samples it
 * goes back as far as there are any. The first sample of a stretch has no slope.
 *
 * @param time_s Times of the samples, ascending, seconds.
 * @param values Cumulative counter at those times; NaN = not available, starts a new stretch.
 * @param n How many of them count.
 * @param smoothing_s Shortest time to average over; 0: from one sample to the next.
 * @param out Gets counter units per second; NaN where there is none ("not enough data yet").
 */
export function slopes(
  time_s: Float64Array,
  values: Float64Array,
  n: number,
  smoothing_s: number,
  out: Float64Array,
): void {
  let from = 0; // sample that the slope is taken against
  let start = 0; // first sample of the stretch
  // Times are sums of doubles: a sample that is meant to be smoothing_s old may be off by rounding.
  const enough = smoothing_s * (1 - 1e-6);
  for (let i = 0; i < n; i++) {
    const value = values[i] ?? Number.NaN;
    out[i] = Number.NaN;
    if (Number.isNaN(value)) {
      start = i + 1;
      from = start;
      continue;
    }
    if (i === start) continue;
    const t = time_s[i] ?? 0;
    while (from + 1 < i && t - (time_s[from + 1] ?? 0) >= enough) from++;
    const elapsed = t - (time_s[from] ?? 0);
    if (elapsed > 0) out[i] = (value - (values[from] ?? 0)) / elapsed;
  }
}

/**
 * How long a slope is averaged over, for samples that come `rate_hz` times a second: half a second,
 * because the kernel brings a running thread's CPU time up to date at scheduler ticks (1 to 10 ms,
 * so that single intervals of 100 ms would show up to 10 % of noise), or one interval if that is
 * longer.
 */
export function smoothingFor(rate_hz: number): number {
  return Math.max(0.5, 1 / rate_hz);
}
