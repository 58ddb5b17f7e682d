/** Fills the thread map with rates of a counter, row after row. */

import { shownRate } from "./format";
import type { History } from "./history";
import { columnRates, type Pieces } from "./mapColumns";
import type { MapLayout } from "./mapLayout";
import { type MapView, NO_FIELD } from "./mapPicture";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";
import type { MapRequest } from "./viewRequest";

/** So many samples are read one by one. */
const FEW = 16;

/** Where a field's past is. */
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
  /** Of the row: sum or highest of the values so far, how many there are, and the highest's number. */
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
      // Which one is the highest is kept for a mean as well: it is the one to point at.
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

  /** Rates of one thread in raw units; NO_FIELD where it is there without the field. */
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
    // Few at a time, for thousands of threads: what allocates nothing is faster.
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
