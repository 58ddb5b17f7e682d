/**
 * Values of the thread map: mean rate of a counter in each column. Counters are assumed to grow
 * linearly between two samples. The growth is distributed over the columns in between, so that
 * nothing is lost or counted twice, wherever samples and columns lie.
 */

import { shownRate } from "./format";
import type { History, Stretches } from "./history";
import type { MapLayout } from "./mapLayout";
import { type MapView, NO_FIELD } from "./mapPicture";
import { rateBetween } from "./rate";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";
import type { MapRequest } from "./viewRequest";

/** Time between samples, cut at column edges; the same for all threads. */
export class Pieces {
  /** Number of pieces: time within one column and between two adjacent samples. */
  readonly count: number;
  /** Later sample, column (relative to the first) and length of each piece. */
  readonly sample: Int32Array;
  readonly column: Int32Array;
  readonly seconds: Float64Array;
  /** Float64[count]: share of the time between the piece's samples. */
  readonly shares: Float64Array;
  /** Start of each piece, in seconds since attach. */
  readonly begin_s: Float64Array;
  /** Sample before each column end, and the fraction of the way to the next sample, 0 to 1. */
  readonly edgeSample: Int32Array;
  readonly edgeShare: Float64Array;
  /** Float64[columns]: reciprocal of the sampled part of the column; NaN if none. */
  readonly perCovered: Float64Array;

  /**
   * @param stretches Samples from before the first column to the end of the last one.
   * @param from Number of the first column.
   * @param columns Number of columns.
   * @param bin_s Length of a column.
   */
  constructor(
    readonly stretches: Stretches,
    readonly from: number,
    readonly columns: number,
    readonly bin_s: number,
  ) {
    const { n, time_s } = stretches;
    const perSecond = new Float64Array(n);
    const sample: number[] = [];
    const column: number[] = [];
    const seconds: number[] = [];
    const begin: number[] = [];
    const end = from + columns;
    for (let i = 1; i < n; i++) {
      const start_s = time_s[i - 1] ?? 0;
      const end_s = time_s[i] ?? 0;
      perSecond[i] = end_s > start_s ? 1 / (end_s - start_s) : 0;
      const last = Math.min(end - 1, Math.ceil(end_s / bin_s) - 1);
      for (let k = Math.max(from, Math.floor(start_s / bin_s)); k <= last; k++) {
        const part = Math.min(end_s, (k + 1) * bin_s) - Math.max(start_s, k * bin_s);
        // Slivers from rounding carry no value.
        if (part <= 1e-6 * bin_s) continue;
        sample.push(i);
        column.push(k - from);
        seconds.push(part);
        begin.push(Math.max(start_s, k * bin_s));
      }
    }
    this.count = sample.length;
    this.sample = Int32Array.from(sample);
    this.column = Int32Array.from(column);
    this.seconds = Float64Array.from(seconds);
    this.shares = Float64Array.from(seconds, (part, p) => part * (perSecond[sample[p] ?? 0] ?? 0));
    this.begin_s = Float64Array.from(begin);
    this.edgeSample = new Int32Array(columns + 1);
    this.edgeShare = new Float64Array(columns + 1);
    this.perCovered = new Float64Array(columns).fill(Number.NaN);
    if (n < 2) return;
    const [first_s = 0, last_s = 0] = [time_s[0], time_s[n - 1]];
    let at = 0;
    let before_s = Number.NaN;
    for (let k = 0; k <= columns; k++) {
      const edge_s = Math.min(last_s, Math.max(first_s, (from + k) * bin_s));
      while (at < n - 2 && (time_s[at + 1] ?? 0) <= edge_s) at++;
      this.edgeSample[k] = at;
      this.edgeShare[k] = (edge_s - (time_s[at] ?? 0)) * (perSecond[at + 1] ?? 0);
      const part = edge_s - before_s;
      if (k > 0 && part > 1e-6 * bin_s) this.perCovered[k - 1] = 1 / part;
      before_s = edge_s;
    }
  }
}

/** Lifetime of a thread, in seconds since attach. */
export interface Life {
  /** First and last sample of the thread; null if still alive. */
  readonly seen_s: number;
  readonly end_s: number | null;
  /** Start and end as exactly as known, between samples. */
  readonly from_s: number;
  readonly until_s: number | null;
  /** One of its counters fell. */
  readonly reset: boolean;
}

/** Minimum length of a life, in seconds. */
const SHORTEST_S = 1e-5;

/** Presence of a thread between two samples. */
export class Presence {
  /** Start and end, in seconds since attach; equal while empty. */
  from_s = 0;
  to_s = 0;

  /** Set to the intersection of a life and a time span. Return false if empty. */
  within({ from_s, until_s }: Life, start_s: number, end_s: number): boolean {
    const to_s = until_s === null || until_s > end_s ? end_s : until_s;
    this.from_s = Math.max(start_s, Math.min(from_s, to_s - SHORTEST_S));
    this.to_s = to_s;
    return to_s > this.from_s;
  }

  /** Seconds of presence within a piece of that time. */
  partOf(begin_s: number, seconds: number): number {
    return Math.min(begin_s + seconds, this.to_s) - Math.max(begin_s, this.from_s);
  }
}

/** Scratch object of `columnRates`. */
const PRESENCE = new Presence();

/**
 * Mean rate of a thread in each column, over the thread's presence in the column.
 * @param values Float64[n]: its counter at the samples; NaN = none.
 * @param fresh Whether its counter began at 0 between the sample before `seen_s` and that sample.
 * @param out Float64[columns]: counter units per second; NaN while the thread did not exist.
 * @param covered Float64[columns], scratch.
 */
export function columnRates(
  pieces: Pieces,
  values: Float64Array,
  life: Life,
  fresh: boolean,
  out: Float64Array,
  covered: Float64Array,
): void {
  const { count, sample, column, seconds, begin_s, columns, stretches } = pieces;
  const { n, time_s } = stretches;
  const { seen_s, reset } = life;
  const end_s = life.end_s ?? Number.POSITIVE_INFINITY;
  const throughout = !reset && seen_s <= (time_s[0] ?? 0) && end_s >= (time_s[n - 1] ?? 0);
  // A value, once given, is never withdrawn: all later samples have one.
  if (n > 1 && throughout && !Number.isNaN(values[0] ?? Number.NaN)) {
    steadyRates(pieces, values, out);
    return;
  }
  out.fill(0, 0, columns);
  covered.fill(0, 0, columns);
  let previous = -1;
  let rate = Number.NaN;
  for (let p = 0; p < count; p++) {
    const i = sample[p] ?? 0;
    if (i !== previous) {
      previous = i;
      const t_s = time_s[i] ?? 0;
      const before_s = time_s[i - 1] ?? 0;
      const alive = t_s >= seen_s && t_s <= end_s && PRESENCE.within(life, before_s, t_s);
      const before = before_s >= seen_s ? (values[i - 1] ?? 0) : fresh ? 0 : Number.NaN;
      const length_s = PRESENCE.to_s - PRESENCE.from_s;
      rate = alive ? rateBetween(before, values[i] ?? Number.NaN, length_s) : Number.NaN;
    }
    if (Number.isNaN(rate)) continue;
    const part = PRESENCE.partOf(begin_s[p] ?? 0, seconds[p] ?? 0);
    if (part <= 0) continue;
    const k = column[p] ?? 0;
    out[k] = (out[k] ?? 0) + rate * part;
    covered[k] = (covered[k] ?? 0) + part;
  }
  for (let k = 0; k < columns; k++) {
    const part = covered[k] ?? 0;
    out[k] = part > 0 ? (out[k] ?? 0) / part : Number.NaN;
  }
}

/**
 * `columnRates` for a thread that was present throughout: from the counter's values at the column
 * ends.
 */
function steadyRates(pieces: Pieces, values: Float64Array, out: Float64Array): void {
  const { columns, edgeSample, edgeShare, perCovered } = pieces;
  let before = 0;
  for (let k = 0; k <= columns; k++) {
    const i = edgeSample[k] ?? 0;
    const value = values[i] ?? 0;
    const now = value + ((values[i + 1] ?? 0) - value) * (edgeShare[k] ?? 0);
    if (k > 0) {
      // Rounding must not show a negative rate.
      const rate = (now - before) * (perCovered[k - 1] ?? Number.NaN);
      out[k - 1] = Math.max(0, rate);
    }
    before = now;
  }
}

/** Up to this many samples are read one by one. */
const FEW = 16;

/** Source of a field's past. */
export interface MapSource {
  readonly history: History;
  readonly ring: number;
  /** Whether slots of old blocks are distinguished by their threads' first blocks. */
  readonly own: boolean;
  readonly since_s: number;
}

export class RateFiller {
  private readonly raw: Float64Array;
  private readonly rates: Float64Array;
  private readonly covered: Float64Array;
  private readonly picks: Int32Array;
  /**
   * Per column of the row: sum or maximum so far, number of values, and the number of the highest
   * thread.
   */
  private readonly mixed: Float64Array;
  private readonly best: Float64Array;
  private readonly having: Uint16Array;
  private readonly place: Uint16Array;
  private readonly scale: number;
  private readonly column: number;

  constructor(
    private readonly model: TargetModel,
    private readonly mix: MapRequest["mix"],
    private readonly pieces: Pieces,
    private readonly source: MapSource,
    private readonly layout: MapLayout,
    private readonly view: MapView,
  ) {
    const { n } = pieces.stretches;
    const { columns } = pieces;
    this.raw = new Float64Array(n);
    this.rates = new Float64Array(columns);
    this.covered = new Float64Array(columns);
    this.picks = Int32Array.from({ length: n }, (_, i) => i);
    this.mixed = new Float64Array(columns);
    this.best = new Float64Array(columns);
    this.having = new Uint16Array(columns);
    this.place = new Uint16Array(columns);
    this.scale = shownRate(view.field, 1).value;
    this.column = model.counters.columnOf(view.field);
  }

  fillRow(order: readonly Thread[], row: number): void {
    const { mixed, best, having, layout } = this;
    const first = layout.first[row] ?? 0;
    const end = layout.first[row + 1] ?? first;
    mixed.fill(0);
    this.place.fill(layout.gone[row] ?? 0);
    best.fill(Number.NaN);
    having.fill(0);
    for (let place = first; place < end; place++) {
      const thread = order[place];
      if (!thread) continue;
      this.rate(thread);
      this.add(place - first + (layout.gone[row] ?? 0));
    }
    this.write(row);
  }

  /** Add a thread's rates to the row's. */
  private add(own: number): void {
    const { rates, mixed, best, having, place } = this;
    const { columns } = this.pieces;
    for (let k = 0; k < columns; k++) {
      const value = rates[k] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      const highest = best[k] ?? Number.NaN;
      // The highest thread is tracked for a mean as well: the pointer selects it.
      if (!(value <= highest)) {
        best[k] = value;
        place[k] = own;
      }
      if (value === NO_FIELD) continue;
      mixed[k] = (mixed[k] ?? 0) + value;
      having[k] = (having[k] ?? 0) + 1;
    }
  }

  private write(row: number): void {
    const { mixed, best, having, place, view, scale } = this;
    const { rows } = this.layout;
    const mean = this.mix === "mean";
    for (let k = 0; k < this.pieces.columns; k++) {
      const held = having[k] ?? 0;
      const highest = best[k] ?? Number.NaN;
      const value = mean ? (mixed[k] ?? 0) / held : highest;
      const shown = held > 0 ? value * scale : highest;
      const at = k * rows + row;
      view.values[at] = shown;
      view.highest[at] = place[k] ?? 0;
      if (shown > (view.peak[k] ?? 0)) view.peak[k] = shown;
    }
  }

  /** Rate of one thread in raw units; NO_FIELD if the thread exists but lacks the field. */
  private rate(thread: Thread): void {
    const { model, source, pieces, raw, picks } = this;
    const { slot } = thread;
    if (
      Number.isNaN(
        model.counters.latest[slot * model.counters.fields.length + this.column] ?? Number.NaN,
      )
    ) {
      this.mark(thread);
      return;
    }
    const since = source.own ? thread.sinceBlock : 0;
    const { history, ring } = source;
    // Small batches for thousands of threads: reading without allocation is faster.
    if (raw.length <= FEW) history.readAt(pieces.stretches, picks, slot, ring, since, raw);
    else history.read(pieces.stretches, slot, ring, since, raw);
    const fresh = thread.start_ns / 1e9 >= model.since_s;
    columnRates(pieces, raw, thread, fresh, this.rates, this.covered);
  }

  private mark({ from_s, until_s }: Thread): void {
    const { pieces, rates } = this;
    const { from, columns, bin_s } = pieces;
    const end_s = until_s ?? Number.POSITIVE_INFINITY;
    for (let k = 0; k < columns; k++) {
      const there = (from + k + 1) * bin_s > from_s && (from + k) * bin_s <= end_s;
      rates[k] = there ? NO_FIELD : Number.NaN;
    }
  }
}
