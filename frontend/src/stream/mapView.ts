/**
 * Builds the thread map incrementally: all columns when the rows change, otherwise only new ones.
 */

import { RING_FIELDS, type RingField } from "./chartSpecs";
import { threadsIn, type ViewInput } from "./chartView";
import { shownRate } from "./format";
import { type MapSource, Pieces, RateFiller } from "./mapColumns";
import { BY_ROLE, countProcesses, MapLanes, type Stacking, stackingFor } from "./mapLanes";
import { continued, layoutOf, type MapLayout, orderOf } from "./mapLayout";
import type { MapView } from "./mapPicture";
import { StateFiller } from "./mapStates";
import { ringOf } from "./series";
import { STATE_FIELD } from "./states";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";
import type { MapRequest } from "./viewRequest";

/** Reciprocal of the maximum share of time spent on rebuilding all columns. */
const SHARE = 10;

/** Minimum distance of two lives in a lane, in columns: one empty column in between. */
const GAP_COLUMNS = 2;

/** Maximum width of a column, in CSS pixels. */
const WIDEST_PX = 4;

/** State of the map held by the page. */
interface Held {
  readonly key: string;
  readonly order: readonly Thread[];
  /** Stacks of the threads at layout time. */
  readonly stacks: readonly string[];
  readonly layout: MapLayout;
  /** Number of its first column, and of its newest, possibly incomplete one. */
  readonly from: number;
  readonly newest: number;
  /** Sequence number of the newest frame included. */
  readonly seq: number;
}

/** Column widths. */
export interface Bins {
  readonly bin_s: number;
  readonly bin_px: number;
}

/**
 * Narrowest columns that are whole pixels and at least one sample wide. The maximum width is some
 * pixels, so that a short life is a short mark.
 */
export function binsFor(seconds: number, width_px: number, rate_hz: number): Bins {
  const width = Math.max(1, Math.round(width_px));
  const pixel_s = seconds / width;
  const bin_px = Math.min(width, WIDEST_PX, Math.max(1, Math.ceil(1 / rate_hz / pixel_s - 1e-6)));
  return { bin_s: bin_px * pixel_s, bin_px };
}

export class MapMaker {
  private held: Held | null = null;
  private stacking: Stacking = BY_ROLE;
  private lanes: { readonly of: string; readonly book: MapLanes } | null = null;
  private full_ms = Number.NEGATIVE_INFINITY;
  private cost_ms = 0;

  /**
   * Build the part missing on the page; null if none.
   * @param slow Whether rows may change now.
   * @param clock A monotonic clock, ms: rebuilding all columns is expensive, and is measured.
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
    const making = { input, asked, bins, source };
    const from = Math.floor(Math.max(span.t0_s, model.history.from_s) / bins.bin_s + 1e-9);
    const newest = Math.floor(Math.min(span.t1_s, now_s) / bins.bin_s - 1e-9);
    const fixed = request.window.kind === "fixed" ? [span.t0_s, span.t1_s] : [];
    const { field, mix, width_px, rows } = asked;
    const seconds = span.t1_s - span.t0_s;
    const key = [
      field,
      mix,
      width_px,
      rows,
      bins.bin_s,
      seconds,
      request.filter,
      asked.by,
      ...asked.open,
      ...fixed,
    ].join();
    // An invisible map is not updated: columns that have left the window are not missed.
    const held =
      this.held?.key === key && newest >= this.held.newest && this.held.newest >= from - 1
        ? this.held
        : null;
    const threads = slow || !held ? new Set(threadsIn(input)) : null;
    if (held && (threads === null || sameThreads(threads, held, this.stacking))) {
      return this.more(making, held, held.layout, newest);
    }
    const start_ms = clock();
    const shown = threads ?? new Set(threadsIn(input));
    this.stacking = stackingFor(asked, countProcesses(shown), this.stacking);
    const { stacking } = this;
    const lanes = this.lanesFor([bins.bin_s, request.filter, ...fixed].join(), bins);
    const stacks = stacking.arranged(lanes.update(shown));
    const now = { order: orderOf(stacks), layout: layoutOf(stacks, rows) };
    const placed = { ...now, stacks: now.order.map(stacking.of) };
    if (held) {
      const layout = continued(held, now);
      if (layout) {
        const known = new Set(held.order);
        const fresh = now.order.filter((thread) => !known.has(thread));
        return this.more(making, { ...held, ...placed, layout }, layout, newest, fresh);
      }
      const rested = start_ms - this.full_ms >= SHARE * this.cost_ms;
      if (!rested) return this.more(making, held, held.layout, newest);
    }
    const view = columnsOf(making, now.order, now.layout, from, newest);
    this.held = { key, ...placed, from, newest, seq: model.seq };
    this.full_ms = clock();
    this.cost_ms = this.full_ms - start_ms;
    return { ...view, layout: now.layout };
  }

  /** Lanes stay while columns do: another colouring moves no thread. */
  private lanesFor(window: string, { bin_s }: Bins): MapLanes {
    const of = `${window} ${this.stacking.name}`;
    if (this.lanes?.of !== of) {
      this.lanes = { of, book: new MapLanes(GAP_COLUMNS * bin_s, this.stacking.of) };
    }
    return this.lanes.book;
  }

  /**
   * New columns in the same rows, and the last column sent, which may have been incomplete.
   * @param fresh New threads: their columns are sent again.
   */
  private more(
    making: Making,
    held: Held,
    layout: MapLayout,
    newest: number,
    fresh: readonly Thread[] = [],
  ): MapView | null {
    const { model, request } = making.input;
    const another = layout !== this.held?.layout;
    const known = this.held?.seq === model.seq || (newest === held.newest && request.paused);
    if (known && !another) return null;
    const { bin_s } = making.bins;
    const born = fresh.reduce(
      (k, { from_s }) => Math.min(k, Math.floor(from_s / bin_s)),
      Number.POSITIVE_INFINITY,
    );
    const first = Math.max(held.from, Math.min(held.newest, born));
    const view = columnsOf(making, held.order, layout, first, newest);
    this.held = { ...held, layout, newest, seq: model.seq };
    return { ...view, layout: another ? layout : null, continues: true };
  }
}

/** Inputs for computing columns. */
interface Making {
  readonly input: ViewInput;
  readonly asked: MapRequest;
  readonly bins: Bins;
  readonly source: MapSource;
}

function columnsOf(
  { input, asked, bins, source }: Making,
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
      : new RateFiller(model, asked.mix, pieces, source, layout, view);
  for (let row = 0; row < layout.rows; row++) filler.fillRow(order, row);
  countTurnover(input, from, bin_s, view);
  return {
    ...view,
    from,
    since_s: source.since_s > model.since_s ? source.since_s : null,
  };
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

function sourceOf(model: TargetModel, field: string): MapSource | null {
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

/** Whether the threads and their stacks are unchanged. */
function sameThreads(now: ReadonlySet<Thread>, { order, stacks }: Held, { of }: Stacking): boolean {
  if (now.size !== order.length) return false;
  return order.every((thread, i) => now.has(thread) && of(thread) === stacks[i]);
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
    continues: false,
    from: 0,
    columns,
    values: new Float32Array(cells),
    highest: new Uint16Array(cells),
    shares: new Uint32Array(field === STATE_FIELD ? cells : 0),
    peak: new Float32Array(columns),
    born: new Uint16Array(columns),
    exited: new Uint16Array(columns),
    since_s: null,
    first_s: model.since_s,
    gaps: model.losses.stretches.filter(([from, to]) => to > span.t0_s && from < span.t1_s),
  };
}
