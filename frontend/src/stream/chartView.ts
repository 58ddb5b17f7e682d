/** Counter charts: their lines, and the values within a window. */

import type { Target } from "../wire/generated/models";
import type { ChartItem, LevelSum, ProcessLife } from "./chartItem";
import {
  CHART_SPECS,
  type ChartSpec,
  type CounterChartId,
  isCounterChart,
  RING_FIELDS,
  type RingField,
} from "./chartSpecs";
import { type Columns, columnsFor, extremes } from "./decimate";
import type { Stretches } from "./history";
import { type Filter, growth, topThreads } from "./rank";
import { rates, smoothingFor } from "./rate";
import { OVER_S, PROCESS_KEY } from "./rateExtremes";
import { addToSum, firstOf, readProcess, readThread, ringOf, stepOf, timesOf } from "./series";
import type { TargetModel } from "./targetModel";
import { PROCESS_SLOT, type Thread } from "./threads";
import type { ChartId, ChartRequest, Level, ThreadKey, ViewRequest } from "./viewRequest";
import type { ChartView, LineView, PeaksView, ShownUnit } from "./views";
import type { Span } from "./window";

/** Limit of "others" relative to the largest thread: beyond it the threads' lines would be flat. */
const FLATTENING = 2.5;

/** Inputs of a view. */
export interface ViewInput {
  readonly model: TargetModel;
  readonly target: Target | null;
  readonly request: ViewRequest;
  readonly filter: Filter;
  readonly span: Span;
  /** Newest instant to show: the latest one, or the freeze instant of a paused view. */
  readonly now_s: number;
}

/** Threads, roles or processes with lines in a chart, highest first. */
export interface Chosen {
  readonly threads: readonly ChartItem[];
  readonly candidates: number;
}

/** Threads that exist within the span and match the filter. */
export function* threadsIn(input: ViewInput): Generator<Thread> {
  const { model, span, filter, now_s } = input;
  for (const thread of model.threads.all()) {
    if (thread.seen_s > Math.min(span.t1_s, now_s)) continue;
    if (thread.end_s !== null && thread.end_s < span.t0_s) continue;
    if (filter.fits(thread)) yield thread;
  }
}

/** Level of the charts' lines: threads, roles or processes. */
export function levelOf({ request, model }: ViewInput): Level {
  if (request.level === "process" && !model.levels.grouped) return "thread";
  return request.level ?? (model.levels.grouped ? "process" : "thread");
}

/** Items on the charts' level that exist within the span and match the filter. */
function itemsIn(input: ViewInput): Iterable<ChartItem> {
  const { levels } = input.model;
  switch (levelOf(input)) {
    case "thread":
      return threadsIn(input);
    case "role":
      return sumsIn(input, levels.roles.values());
    case "process":
      return sumsIn(input, levels.processes());
  }
}

function isProcess(item: ChartItem): item is ProcessLife {
  return "pid" in item;
}

export function* sumsIn(input: ViewInput, sums: Iterable<LevelSum>): Generator<LevelSum> {
  const { span, filter, now_s } = input;
  for (const sum of sums) {
    if (sum.seen_s > Math.min(span.t1_s, now_s)) continue;
    if (sum.end_s !== null && sum.end_s < span.t0_s) continue;
    const process = isProcess(sum) ? sum : null;
    if (filter.fits({ tid: null, name: sum.name, role: sum.role, process })) yield sum;
  }
}

/**
 * Choose the threads that get a line: selected and pinned ones first, then the top by growth.
 * @param items Candidates.
 */
export function chooseThreads(
  input: ViewInput,
  chart: CounterChartId,
  incumbents: ReadonlySet<string>,
  items: Iterable<ChartItem> = itemsIn(input),
  most = input.request.top_k,
): Chosen {
  const { request } = input;
  const scoreOf = rankOf(input, chart);
  const wanted = new Set(request.pinned);
  if (request.selected !== null) wanted.add(request.selected);
  const always: ChartItem[] = [];
  const others: ChartItem[] = [];
  for (const thread of items) (wanted.has(thread.key) ? always : others).push(thread);
  const count = Math.max(1, Math.min(50, most));
  const top = topThreads(others, scoreOf, count, incumbents);
  // In an idle program names are more useful than "others".
  if (top.length === 0) top.push(...others.slice(0, count).filter((one) => scoreOf(one) === 0));
  return { threads: [...always, ...top], candidates: always.length + others.length };
}

/** Ranking key of a chart's lines: growth of its counters, or of the requested ones. */
export function rankOf(
  { model, request, span, now_s }: ViewInput,
  chart: CounterChartId,
): (item: ChartItem) => number {
  const stretches = model.history.between(span.t0_s, Math.min(span.t1_s, now_s));
  const by = request.rank_by;
  const rings =
    by === "chart"
      ? CHART_SPECS[chart].fields.map(ringOf)
      : RING_FIELDS.flatMap((field, ring) => (field === by.field ? [ring] : []));
  return (item) => growth(model, stretches, item, rings);
}

/** Make a chart's view. */
export function chartView(
  input: ViewInput,
  { chart, width_px }: ChartRequest,
  chosen: Chosen,
): ChartView {
  if (!isCounterChart(chart)) return emptyView(input, chart, "absent", "");
  const spec = CHART_SPECS[chart];
  const { model, span, now_s } = input;
  const missing = spec.fields.find((field) => model.counters.columnOf(field) < 0);
  if (missing !== undefined) return emptyView(input, chart, "absent", whyAbsent(input, missing));
  const width_s = span.t1_s - span.t0_s;
  const smoothing_s =
    spec.mode === "slope"
      ? Math.max(smoothingFor(model.arrivals.hz || 10), width_s / Math.max(1, width_px))
      : 0;
  const end_s = Math.min(span.t1_s, now_s);
  // Slopes look back; one more sample extends the line to the left edge.
  const stretches = model.history.between(span.t0_s - 2 * smoothing_s, end_s);
  if (stretches.n < 2) return emptyView(input, chart, "waiting", "not enough data yet");
  const columns = columnsFor(stretches.time_s, stretches.n, width_s, width_px);
  const painter = new LinePainter(input, spec, stretches, columns, smoothing_s, chosen);
  spec.fields.forEach((field, variant) => {
    painter.addField(field, variant === 0 ? 0 : 1);
  });
  if (painter.values === 0) {
    const reason = `no thread has a value: ${whyAbsent(input, spec.fields[0] ?? "")}`;
    return emptyView(input, chart, "absent", reason);
  }
  return {
    ...emptyView(input, chart, "ok", ""),
    columns: columns.count,
    time_s: columns.time_s,
    low: painter.low,
    high: painter.high,
    lines: painter.lines,
    y_max: painter.y_max,
    others_above: painter.othersAbove,
    smoothing_s,
    peaks: painter.peaks,
    others: chosen.candidates - chosen.threads.length,
  };
}

export const PLAIN_LINE: LineView = {
  key: null,
  tid: null,
  name: "",
  role: "",
  colour: 0,
  kind: "thread",
  variant: 0,
  variant_name: "",
  selected: false,
  pinned: false,
  exited: false,
  last: Number.NaN,
};

/** Why a target lacks a field, in the collector's words. */
export function whyAbsent({ target }: ViewInput, field: string): string {
  const known = target?.absent.find((absent) => absent.field === field);
  return known?.reason ?? `this target does not give ${field}`;
}

const UNITS: Partial<Record<ChartId, ShownUnit>> = {
  gomaxprocs: "count",
  ops: "1/s",
  times: "share",
};

/** A view without lines. */
export function emptyView(
  { model, span, target }: ViewInput,
  chart: ChartId,
  state: ChartView["state"],
  reason: string,
): ChartView {
  const nothing = new Float64Array(0);
  return {
    chart,
    unit: UNITS[chart] ?? CHART_SPECS[chart as CounterChartId].unit,
    state,
    reason,
    t0_s: span.t0_s,
    t1_s: span.t1_s,
    attached_unix_ms: target ? target.attached_unix_us / 1000 : model.unix_ms - model.now_s * 1000,
    columns: 0,
    time_s: nothing,
    low: nothing,
    high: nothing,
    lines: [],
    y_max: 0,
    others_above: false,
    stacked: false,
    opened: null,
    limits: [],
    step: false,
    smoothing_s: 0,
    peaks: null,
    others: 0,
    gaps: model.losses.stretches.filter(([from, to]) => to > span.t0_s && from < span.t1_s),
  };
}

/** Fills the value arrays of a chart, line by line. */
class LinePainter {
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly lines: LineView[] = [];
  /** Largest values in the window, of the threads' lines and of the others. */
  private most = { thread: 0, others: 0, process: 0, part: 0, spread: 0 };
  /** Number of lines with a value. */
  values = 0;
  readonly peaks: PeaksView | null;
  private readonly raw: Float64Array;
  private readonly shown: Float64Array;

  constructor(
    private readonly input: ViewInput,
    private readonly spec: ChartSpec,
    private readonly stretches: Stretches,
    private readonly columns: Columns,
    private readonly smoothing_s: number,
    private readonly chosen: Chosen,
  ) {
    const lines = spec.fields.length * (chosen.threads.length + 1);
    this.low = new Float64Array(lines * columns.count);
    this.high = columns.of ? new Float64Array(this.low.length) : this.low;
    const { extremes } = input.model;
    this.peaks =
      extremes && spec.mode === "slope"
        ? {
            low: new Float64Array(this.low.length),
            high: new Float64Array(this.low.length),
            over_s: OVER_S,
            within_s: Math.max(extremes.step_s, stepOf(columns.time_s)),
          }
        : null;
    this.raw = new Float64Array(stretches.n);
    this.shown = new Float64Array(stretches.n);
  }

  get othersAbove(): boolean {
    const { thread, others } = this.most;
    return thread > 0 && others > FLATTENING * thread;
  }

  get y_max(): number {
    const { thread, others } = this.most;
    return this.othersAbove ? thread : Math.max(thread, others);
  }

  /** Add a line for each chosen thread, and one for the others. */
  addField(field: RingField, variant: 0 | 1): void {
    const { model, request } = this.input;
    const { n, time_s } = this.stretches;
    const ring = ringOf(field);
    const zero = request.baseline === "attach";
    const sum = new Float64Array(n);
    let sumFirst = 0;
    for (const thread of this.chosen.threads) {
      readThread(model, this.stretches, thread, ring, this.raw);
      const first = firstOf(model, thread.slot, ring);
      addToSum(this.raw, n, first, thread, time_s, sum);
      sumFirst += Number.isNaN(first) ? 0 : first;
      this.addLine(zero ? first : 0, timesOf(this.stretches, thread), {
        key: thread.key,
        tid: thread.tid,
        ...(isProcess(thread) ? { pid: thread.pid } : {}),
        name: thread.name,
        role: thread.role,
        colour: thread.colour,
        kind: "thread",
        variant,
        variant_name: this.spec.variants[variant] ?? "",
        selected: thread.key === request.selected,
        pinned: request.pinned.includes(thread.key),
        exited: thread.end_s !== null && thread.end_s <= this.input.now_s,
        last: Number.NaN,
      });
      this.addPeaks(field, thread.key);
    }
    readProcess(model, this.stretches, ring, this.raw);
    for (let i = 0; i < n; i++) this.raw[i] = (this.raw[i] ?? 0) - (sum[i] ?? 0);
    const first = firstOf(model, PROCESS_SLOT, ring) - sumFirst;
    this.addLine(zero ? first : 0, time_s, {
      ...PLAIN_LINE,
      kind: "others",
      name: "others",
      variant,
      variant_name: this.spec.variants[variant] ?? "",
    });
    this.addPeaks(field, PROCESS_KEY);
    this.boundOthers();
  }

  /** Add extremes of the last line. */
  private addPeaks(field: RingField, key: ThreadKey): void {
    const { extremes } = this.input.model;
    if (!extremes || !this.peaks) return;
    const { time_s, count } = this.columns;
    const at = (this.lines.length - 1) * count;
    const { low, high } = this.peaks;
    extremes.read(key, field, time_s, this.spec.scale, low, high, at);
    if (key !== PROCESS_KEY) this.notePeaks("thread", at);
  }

  /**
   * Derive bounds for the others, which lack extremes, from the process. At the process' maximum,
   * the drawn threads had at most the sum of their maxima.
   */
  private boundOthers(): void {
    if (!this.peaks) return;
    const { low, high } = this.peaks;
    const { count } = this.columns;
    const lines = this.chosen.threads.length;
    const first = (this.lines.length - 1 - lines) * count;
    const at = (this.lines.length - 1) * count;
    for (let c = 0; c < count; c++) {
      for (let line = 0; line < lines; line++) {
        const own = first + line * count + c;
        const shown = this.high[own] ?? Number.NaN;
        const most = high[own] ?? Number.NaN;
        const least = low[own] ?? Number.NaN;
        high[at + c] = (high[at + c] ?? 0) - (Number.isNaN(most) ? shown || 0 : most);
        low[at + c] = (low[at + c] ?? 0) - (Number.isNaN(least) ? 0 : least);
      }
      // No bound may be tighter than the line itself.
      high[at + c] = Math.max(high[at + c] ?? 0, this.high[at + c] ?? 0);
      low[at + c] = Math.max(0, Math.min(low[at + c] ?? 0, this.low[at + c] ?? 0));
    }
    this.notePeaks("others", at);
  }

  private notePeaks(kind: "thread" | "others", at: number): void {
    const { time_s, count } = this.columns;
    for (let c = 0; c < count; c++) {
      const value = this.peaks?.high[at + c] ?? Number.NaN;
      const seen = (time_s[c] ?? 0) >= this.input.span.t0_s;
      if (seen && value > this.most[kind]) this.most[kind] = value;
    }
  }

  private addLine(baseline: number, time_s: Float64Array, line: LineView): void {
    const { n } = this.stretches;
    const { scale, mode } = this.spec;
    const { raw, shown } = this;
    if (mode === "slope") rates(time_s, raw, n, this.smoothing_s, shown);
    for (let i = 0; i < n; i++) {
      const value = mode === "slope" ? (shown[i] ?? 0) : (raw[i] ?? 0) - baseline;
      // Sums of large doubles can be off in their last bits; no value here is negative.
      shown[i] = value < 0 ? 0 : value * scale;
    }
    const at = this.lines.length * this.columns.count;
    extremes(shown, this.columns, this.low, this.high, at);
    let last = Number.NaN;
    const from = this.input.span.t0_s;
    for (let i = 0; i < n; i++) {
      const value = shown[i] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      last = value;
      if (value > this.most[line.kind] && (time_s[i] ?? 0) >= from) this.most[line.kind] = value;
    }
    if (!Number.isNaN(last)) this.values++;
    this.lines.push({ ...line, last });
  }
}
