/**
 * Values of the thread map: mean rate of a counter in each column. A counter is taken to grow evenly
 * between two samples, so that what it grew by is shared out among the columns in between and
 * nothing is lost or counted twice, however samples and columns lie.
 */

import type { Stretches } from "./history";

/** A part of time that lies within one column and between two neighbouring samples. */
export interface Piece {
  /** Number of the later sample. */
  readonly sample: number;
  /** Column, counted from the first one wanted. */
  readonly column: number;
  readonly seconds: number;
}

/** Cut the time between samples at the columns' edges; the same for all threads. */
export class Pieces {
  readonly count: number;
  readonly sample: Int32Array;
  readonly column: Int32Array;
  readonly seconds: Float64Array;
  /** Float64[n]: one over the time since the sample before. */
  readonly perSecond: Float64Array;

  /**
   * @param stretches Samples from before the first column to the end of the last one.
   * @param from Number of the first column.
   * @param columns How many there are.
   * @param bin_s Their length.
   */
  constructor(
    readonly stretches: Stretches,
    readonly from: number,
    readonly columns: number,
    readonly bin_s: number,
  ) {
    const { n, time_s } = stretches;
    const pieces: Piece[] = [];
    this.perSecond = new Float64Array(n);
    const end = from + columns;
    for (let i = 1; i < n; i++) {
      const start_s = time_s[i - 1] ?? 0;
      const end_s = time_s[i] ?? 0;
      this.perSecond[i] = end_s > start_s ? 1 / (end_s - start_s) : 0;
      const last = Math.min(end - 1, Math.ceil(end_s / bin_s) - 1);
      for (let k = Math.max(from, Math.floor(start_s / bin_s)); k <= last; k++) {
        const seconds = Math.min(end_s, (k + 1) * bin_s) - Math.max(start_s, k * bin_s);
        // Shreds that rounding leaves carry no value.
        if (seconds > 1e-6 * bin_s) pieces.push({ sample: i, column: k - from, seconds });
      }
    }
    this.count = pieces.length;
    this.sample = Int32Array.from(pieces, (piece) => piece.sample);
    this.column = Int32Array.from(pieces, (piece) => piece.column);
    this.seconds = Float64Array.from(pieces, (piece) => piece.seconds);
  }
}

/** When a thread was there. */
export interface Life {
  /** First and last sample of it, seconds since attach; null: it is still there. */
  readonly seen_s: number;
  readonly end_s: number | null;
  /** Whether its counters began at 0 between the sample before `seen_s` and that one. */
  readonly fresh: boolean;
}

/**
 * Mean rate of a thread in each column.
 *
 * @param values Float64[n]: its counter at the samples; NaN = none.
 * @param out Float64[columns]: counter units a second; NaN where the thread was not there.
 * @param covered Float64[columns], scratch.
 */
export function columnRates(
  pieces: Pieces,
  values: Float64Array,
  { seen_s, end_s, fresh }: Life,
  out: Float64Array,
  covered: Float64Array,
): void {
  const { count, sample, column, seconds, perSecond, columns, stretches } = pieces;
  const { time_s } = stretches;
  const until_s = end_s ?? Number.POSITIVE_INFINITY;
  out.fill(0, 0, columns);
  covered.fill(0, 0, columns);
  let previous = -1;
  let rate = Number.NaN;
  for (let p = 0; p < count; p++) {
    const i = sample[p] ?? 0;
    if (i !== previous) {
      previous = i;
      const t_s = time_s[i] ?? 0;
      const alive = t_s >= seen_s && t_s <= until_s;
      const before_s = time_s[i - 1] ?? 0;
      const before = before_s >= seen_s ? (values[i - 1] ?? 0) : fresh ? 0 : Number.NaN;
      rate = alive ? ((values[i] ?? Number.NaN) - before) * (perSecond[i] ?? 0) : Number.NaN;
    }
    if (Number.isNaN(rate)) continue;
    const k = column[p] ?? 0;
    const part = seconds[p] ?? 0;
    out[k] = (out[k] ?? 0) + rate * part;
    covered[k] = (covered[k] ?? 0) + part;
  }
  for (let k = 0; k < columns; k++) {
    const part = covered[k] ?? 0;
    out[k] = part > 0 ? Math.max(0, (out[k] ?? 0) / part) : Number.NaN;
  }
}
