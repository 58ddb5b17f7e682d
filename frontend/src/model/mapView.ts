/** Makes the thread map, piece by piece: all columns when the rows change, else only new ones. */

import type { RingField } from "./chartSpecs";
import { RING_FIELDS } from "./chartSpecs";
import { threadsIn, type ViewInput } from "./chartView";
import { shownRate } from "./format";
import type { History } from "./history";
import { columnRates, Pieces } from "./mapColumns";
import { MapLanes } from "./mapLanes";
import { layoutOf, type MapLayout, orderOf } from "./mapLayout";
import { type MapView, NO_FIELD } from "./mapPicture";
import { StateFiller } from "./mapStates";
import { ringOf } from "./series";
import { STATE_FIELD } from "./states";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";
import type { MapRequest } from "./viewRequest";

/** Making all columns may take one part in so many of the time. */
const SHARE = 10;

/** From the end of a life to the next of its lane: an empty column stands between them. */
const GAP_COLUMNS = 2;

/** Columns are no wider, CSS pixels. */
const WIDEST_PX = 4;

/** So many samples are read one by one. */
const FEW = 16;

/** Where a field's past is. */
interface Source {
  readonly history: History;
  readonly ring: number;
  /** Whether slots of old blocks are distinguished by their threads' first blocks. */
  readonly own: boolean;
  readonly since_s: number;
}

/** What is held by the page. */
interface Held {
  readonly key: string;
  readonly order: readonly Thread[];
  /** Their roles when they were laid out. */
  readonly roles: readonly string[];
  readonly layout: MapLayout;
  /** Number of its first column, and of its newest, which may not be complete. */
  readonly from: number;
  readonly newest: number;
  /** The newest frame in it. */
  readonly seq: number;
}

/** Lengths of columns. */
export interface Bins {
  readonly bin_s: number;
  readonly bin_px: number;
}

/**
 * Columns as narrow as whole pixels and the distance of samples allow, so that each has a sample; but
 * no wider than some pixels, so that a short life is a short mark.
 */
export function binsFor(seconds: number, width_px: number, rate_hz: number): Bins {
  const width = Math.max(1, Math.round(width_px));
  const pixel_s = seconds / width;
  const bin_px = Math.min(width, WIDEST_PX, Math.max(1, Math.ceil(1 / rate_hz / pixel_s - 1e-6)));
  return { bin_s: bin_px * pixel_s, bin_px };
}

export class MapMaker {
  private held: Held | null = null;
  private lanes: { readonly of: string; readonly book: MapLanes } | null = null;
  private full_ms = Number.NEGATIVE_INFINITY;
  private cost_ms = 0;

  /**
   * Make what the page does not have yet; null: nothing.
   *
   * @param slow Whether rows may change now.
   * @param clock A clock that only runs forward, ms: making all columns is dear, and is measured.
   */
  make(input: ViewInput, asked: MapRequest, slow: boolean, clock: () => number): MapView | null {
    const { model, span, now_s, target, request } = input;
    const source = sourceOf(model, asked.field);
    const bins = binsFor(span.t1_s - span.t0_s, asked.width_px, target?.rate_hz ?? 10);
    if (!source) {
      this.held = null;
      return slow ? emptyView(input, asked, bins, "absent", whyAbsent(input, asked.field)) : null;
    }
    if (!(now_s > model.since_s)) {
      this.held = null;
      return slow ? emptyView(input, asked, bins, "waiting", "not enough data yet") : null;
    }
    const from = Math.floor(Math.max(span.t0_s, model.history.from_s) / bins.bin_s + 1e-9);
    const newest = Math.floor(Math.min(span.t1_s, now_s) / bins.bin_s - 1e-9);
    const fixed = request.window.kind === "fixed" ? [span.t0_s, span.t1_s] : [];
    const { field, mix, width_px, rows } = asked;
    const seconds = span.t1_s - span.t0_s;
    const key = [field, mix, width_px, rows, bins.bin_s, seconds, request.filter, ...fixed].join();
    const { held } = this;
    // Out of view nothing is made: what the window has left behind meanwhile is not missed.
    const same =
      held !== null && held.key === key && newest >= held.newest && held.newest >= from - 1;
    const rested = clock() - this.full_ms >= SHARE * this.cost_ms;
    const check = !same || (slow && rested);
    const threads = check ? new Set(threadsIn(input)) : null;
    const whole = threads !== null && !(same && sameThreads(threads, held));
    if (!whole && held) {
      if (held.seq === model.seq || (newest === held.newest && request.paused)) return null;
      const view = this.columns(
        input,
        asked,
        bins,
        source,
        held.order,
        held.layout,
        held.newest,
        newest,
      );
      this.held = { ...held, newest, seq: model.seq };
      return { ...view, layout: null };
    }
    const start_ms = clock();
    // Lanes stay while columns do: another colour moves no thread.
    const lanesOf = [bins.bin_s, request.filter, ...fixed].join();
    if (this.lanes?.of !== lanesOf) {
      this.lanes = { of: lanesOf, book: new MapLanes(GAP_COLUMNS * bins.bin_s) };
    }
    const lanes = this.lanes.book.update(threads ?? threadsIn(input));
    const order = orderOf(lanes);
    const layout = layoutOf(lanes, rows);
    const view = this.columns(input, asked, bins, source, order, layout, from, newest);
    const roles = order.map(({ role }) => role);
    this.held = { key, order, roles, layout, from, newest, seq: model.seq };
    this.full_ms = clock();
    this.cost_ms = this.full_ms - start_ms;
    return { ...view, layout };
  }

  private columns(
    input: ViewInput,
    asked: MapRequest,
    bins: Bins,
    source: Source,
    order: readonly Thread[],
    layout: MapLayout,
    from: number,
    newest: number,
  ): MapView {
    const { model, span, now_s } = input;
    const { bin_s } = bins;
    const count = Math.max(0, newest - from + 1);
    const end_s = Math.min(span.t1_s, now_s);
    const stretches = source.history.between(from * bin_s, end_s);
    const pieces = new Pieces(stretches, from, count, bin_s);
    const view = emptyView(input, asked, bins, "ok", "", count, layout);
    const filler =
      asked.field === STATE_FIELD
        ? new StateFiller(model, pieces, layout, view)
        : new Filler(model, asked.mix, pieces, source, layout, view);
    for (let row = 0; row < layout.rows; row++) filler.fillRow(order, row);
    countTurnover(input, from, bin_s, view);
    return {
      ...view,
      from,
      since_s: source.since_s > model.since_s ? source.since_s : null,
    };
  }
}

/** Fills the values of a view, row after row. */
class Filler {
  private readonly raw: Float64Array;
  private readonly rates: Float64Array;
  private readonly covered: Float64Array;
  private readonly picks: Int32Array;
  /** Of the row: sum or highest of the values so far, how many there are, and the highest's place. */
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
    private readonly source: Source,
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
    best.fill(Number.NaN);
    having.fill(0);
    for (let place = first; place < end; place++) {
      const thread = order[place];
      if (!thread) continue;
      this.rate(thread);
      this.add(place - first);
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
    const shared = view.highest.length > 0;
    for (let k = 0; k < this.pieces.columns; k++) {
      const held = having[k] ?? 0;
      const highest = best[k] ?? Number.NaN;
      const value = mean ? (mixed[k] ?? 0) / held : highest;
      const shown = held > 0 ? value * scale : highest;
      const at = k * rows + row;
      view.values[at] = shown;
      if (shared && !Number.isNaN(highest)) view.highest[at] = place[k] ?? 0;
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

/** Count threads born (since the page's first sample) and exited in each column. */
function countTurnover({ model, filter }: ViewInput, from: number, bin_s: number, view: MapView) {
  const { columns, born, exited } = view;
  const note = (counts: Uint16Array, t_s: number): void => {
    const k = Math.ceil(t_s / bin_s) - 1 - from;
    if (k >= 0 && k < columns) counts[k] = Math.min(65_535, (counts[k] ?? 0) + 1);
  };
  const earliest_s = from * bin_s;
  for (const thread of model.threads.all()) {
    const { seen_s, from_s, until_s } = thread;
    if (from_s < earliest_s && (until_s ?? 0) < earliest_s) continue;
    if (!filter.fits(thread)) continue;
    if (seen_s > model.since_s) note(born, from_s);
    if (until_s !== null) note(exited, until_s);
  }
}

function sourceOf(model: TargetModel, field: string): Source | null {
  if (field === STATE_FIELD) {
    const { history, there } = model.states;
    return there ? { history, ring: 0, own: true, since_s: model.since_s } : null;
  }
  if (model.counters.columnOf(field) < 0) return null;
  const known: readonly string[] = RING_FIELDS;
  if (known.includes(field)) {
    const ring = ringOf(field as RingField);
    return { history: model.history, ring, own: true, since_s: model.since_s };
  }
  const extra = model.counters.keep(field);
  return { history: extra.history, ring: 0, own: false, since_s: extra.since_s };
}

/** Whether there are the same threads, of the same roles. */
function sameThreads(now: ReadonlySet<Thread>, { order, roles }: Held): boolean {
  if (now.size !== order.length) return false;
  return order.every((thread, i) => now.has(thread) && thread.role === roles[i]);
}

function whyAbsent({ target }: ViewInput, field: string): string {
  if (field === STATE_FIELD && target?.source.ledger_reason != null) {
    return target.source.ledger_reason;
  }
  const known = target?.absent.find((absent) => absent.field === field);
  return known?.reason ?? `this target does not give ${field}`;
}

function emptyView(
  { model, span, target, now_s }: ViewInput,
  { field, mix }: MapRequest,
  { bin_s, bin_px }: Bins,
  state: MapView["state"],
  reason: string,
  columns = 0,
  layout: MapLayout | null = null,
): MapView {
  const cells = columns * (layout?.rows ?? 0);
  return {
    state,
    reason,
    field,
    unit: field === STATE_FIELD ? "share" : shownRate(field, 0).unit,
    mix,
    t0_s: span.t0_s,
    t1_s: span.t1_s,
    now_s,
    attached_unix_ms: target ? target.attached_unix_us / 1000 : model.unix_ms - model.now_s * 1000,
    bin_s,
    bin_px,
    capacity: Math.ceil((span.t1_s - span.t0_s) / bin_s) + 2,
    layout,
    from: 0,
    columns,
    values: new Float32Array(cells),
    highest: new Uint16Array(layout && layout.tid.length > layout.rows ? cells : 0),
    shares: new Uint32Array(field === STATE_FIELD ? cells : 0),
    peak: new Float32Array(columns),
    born: new Uint16Array(columns),
    exited: new Uint16Array(columns),
    since_s: null,
    first_s: model.since_s,
    gaps: model.gaps.filter(([from, to]) => to > span.t0_s && from < span.t1_s),
  };
}
