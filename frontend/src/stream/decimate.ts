/**
 * Decimation: lowest and highest value per pixel column. Columns are anchored to absolute time:
 * column k holds the samples of [k·width, (k+1)·width). Samples of a sliding window therefore stay
 * in their columns, and lines do not shimmer.
 */

/** Assignment of samples to columns, for all lines of a chart. */
export interface Columns {
  readonly count: number;
  /** Float64[count]: middle of each column, or the sample's own time if columns are samples. */
  readonly time_s: Float64Array;
  /** Int32[samples]: column of each sample; null if each sample is a column. */
  readonly of: Int32Array | null;
}

/**
 * Choose columns.
 * @param time_s Times of the samples, ascending.
 * @param n Number of valid samples.
 * @param span_s Length of the time axis.
 * @param pixels Width of the plot.
 */
export function columnsFor(
  time_s: Float64Array,
  n: number,
  span_s: number,
  pixels: number,
): Columns {
  const wanted = Math.max(1, Math.round(pixels));
  // Up to two samples per pixel are drawn directly: a line through them costs as much as two
  // extremes.
  if (n <= 2 * wanted) return { count: n, time_s: time_s.slice(0, n), of: null };
  const width = span_s / wanted;
  const of = new Int32Array(n);
  const middles: number[] = [];
  let previous = Number.NaN;
  for (let i = 0; i < n; i++) {
    const absolute = Math.floor((time_s[i] ?? 0) / width);
    if (absolute !== previous) {
      previous = absolute;
      middles.push((absolute + 0.5) * width);
    }
    of[i] = middles.length - 1;
  }
  return { count: middles.length, time_s: Float64Array.from(middles), of };
}

/**
 * Write the extremes of a line.
 * @param values Float64[samples]; NaN = none.
 * @param low Receives the lowest value of each column from `at` on; NaN for an empty column.
 * @param high The same with the highest. May be the same array as `low` if columns are samples.
 */
export function extremes(
  values: Float64Array,
  columns: Columns,
  low: Float64Array,
  high: Float64Array,
  at: number,
): void {
  const { count, of } = columns;
  if (!of) {
    low.set(values.subarray(0, count), at);
    if (high !== low) high.set(values.subarray(0, count), at);
    return;
  }
  low.fill(Number.NaN, at, at + count);
  high.fill(Number.NaN, at, at + count);
  for (let i = 0; i < of.length; i++) {
    const value = values[i] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    const column = at + (of[i] ?? 0);
    const lowest = low[column] ?? Number.NaN;
    if (!(value >= lowest)) low[column] = value;
    const highest = high[column] ?? Number.NaN;
    if (!(value <= highest)) high[column] = value;
  }
}
