/**
 * The CPU chart without requested lines: stacked bands, or one role's threads. Stacked bands: the
 * CPU share of each role, thread or process.
 */

import type { ChartItem, LevelSum, ProcessLife } from "../chartItem";
import { CHART_SPECS, type ChartSpec } from "../chartSpecs";
import {
  type Chosen,
  chartView,
  chooseThreads,
  emptyView,
  levelOf,
  PLAIN_LINE,
  rankOf,
  sumsIn,
  threadsIn,
  type ViewInput,
  whyAbsent,
} from "../chartView";
import { type Columns, columnsFor } from "../decimate";
import type { Stretches } from "../history";
import { rates, smoothingFor } from "../rate";
import { isRuntimeRole } from "../role";
import { LineHues, LineOrder } from "../roleHues";
import { readProcess, readThread, ringOf, timesOf } from "../series";
import type { Thread } from "../threads";
import type { ChartRequest, Level } from "../viewRequest";
import type { ChartView, LimitView, LineView } from "../views";
import { SpreadMaker } from "./spreadView";

/**
 * Ratio of limit to sum above which the limit is shown as text at the upper edge: to scale it would
 * flatten the sum.
 */
const NEAR = 2;

const SPEC: ChartSpec = CHART_SPECS.cpu;

/**
 * The CPU of the process as bands; the remainder is the topmost one.
 * @param colours A colour for each chosen item.
 */
function stackView(
  input: ViewInput,
  { chart, width_px }: ChartRequest,
  chosen: Chosen,
  colours: readonly number[],
): ChartView {
  const { model, span, now_s } = input;
  const width_s = span.t1_s - span.t0_s;
  const smoothing_s = Math.max(
    smoothingFor(model.arrivals.hz || 10),
    width_s / Math.max(1, width_px),
  );
  const stretches = model.history.between(span.t0_s - 2 * smoothing_s, Math.min(span.t1_s, now_s));
  if (stretches.n < 2) return emptyView(input, chart, "waiting", "not enough data yet");
  const columns = columnsFor(stretches.time_s, stretches.n, width_s, width_px);
  const { threads, candidates } = chosen;
  const { count } = columns;
  const low = new Float64Array((threads.length + 1) * count);
  const high = new Float64Array(low.length);
  const foot = new Float64Array(count);
  const lines: LineView[] = [];
  const column = new Float64Array(count);
  const add = (line: LineView) => {
    const at = lines.length * count;
    for (let c = 0; c < count; c++) {
      const value = column[c] ?? Number.NaN;
      const base = foot[c] ?? 0;
      low[at + c] = Number.isNaN(value) ? Number.NaN : base;
      foot[c] = base + (Number.isNaN(value) ? 0 : value);
      high[at + c] = Number.isNaN(value) ? Number.NaN : (foot[c] ?? 0);
    }
    lines.push({ ...line, last: column[count - 1] ?? Number.NaN });
  };
  const whole = new Float64Array(count);
  const raw = new Float64Array(stretches.n);
  const shown = new Float64Array(stretches.n);
  const read = { raw, shown, stretches, columns, smoothing_s };
  readProcess(model, stretches, ringOf("cpu_run_ns"), raw);
  columnRates(read, stretches.time_s, whole);
  threads.forEach((thread, index) => {
    readThread(model, stretches, thread, ringOf("cpu_run_ns"), raw);
    columnRates(read, timesOf(stretches, thread), column);
    add(lineOf(thread, colours[index] ?? thread.colour, input));
  });
  for (let c = 0; c < count; c++) {
    const total = whole[c] ?? Number.NaN;
    column[c] = Math.max(0, total - (foot[c] ?? 0));
  }
  add({ ...PLAIN_LINE, kind: "others", name: "others" });
  const limits = limitsOf(input);
  const most = greatest(foot, columns.time_s, span.t0_s);
  return {
    ...emptyView(input, chart, "ok", ""),
    columns: count,
    time_s: columns.time_s,
    low,
    high,
    lines,
    y_max: Math.max(most, ...limits.map(({ value }) => (value <= NEAR * most ? 1.04 * value : 0))),
    stacked: true,
    smoothing_s,
    limits,
    others: candidates - threads.length,
  };
}

/** Buffers reused for each band. */
interface Read {
  readonly raw: Float64Array;
  readonly shown: Float64Array;
  readonly stretches: Stretches;
  readonly columns: Columns;
  readonly smoothing_s: number;
}

/** Rates of the values in `raw`, in cores: the last one of each column. */
function columnRates(read: Read, time_s: Float64Array, out: Float64Array): void {
  const { raw, shown, stretches, columns, smoothing_s } = read;
  const { n } = stretches;
  rates(time_s, raw, n, smoothing_s, shown);
  const { of } = columns;
  if (of) out.fill(Number.NaN);
  for (let i = 0; i < n; i++) {
    const value = shown[i] ?? Number.NaN;
    // Rates are means over at least a column: any sample represents it.
    out[of ? (of[i] ?? 0) : i] = value < 0 ? 0 : value * SPEC.scale;
  }
}

function lineOf(item: ChartItem, colour: number, { request, now_s }: ViewInput): LineView {
  const { key, tid, name, role, end_s } = item;
  return {
    ...PLAIN_LINE,
    ...{ key, tid, name, role, colour },
    ...("pid" in item ? { pid: (item as ProcessLife).pid } : {}),
    selected: key === request.selected,
    pinned: request.pinned.includes(key),
    exited: end_s !== null && end_s <= now_s,
  };
}

function greatest(values: Float64Array, time_s: Float64Array, from_s: number): number {
  let most = 0;
  for (let c = 0; c < values.length; c++) {
    if ((time_s[c] ?? 0) >= from_s) most = Math.max(most, values[c] ?? 0);
  }
  return most;
}

/** Current limits of the process' CPU: the quota of its control group, and GOMAXPROCS. */
function limitsOf({ model, target, span, now_s }: ViewInput): readonly LimitView[] {
  const at_s = Math.min(span.t1_s, now_s);
  const quota = model.cgroup.limit.between(at_s, at_s)[0]?.value ?? Number.NaN;
  const size = target?.group
    ? Number.NaN
    : (model.sizes.between(at_s, at_s)[0]?.value ?? Number.NaN);
  return [
    { name: "quota", value: quota },
    { name: "GOMAXPROCS", value: size },
  ].filter(({ value }) => value > 0);
}

/** Maximum number of threads distinguishable by hue. */
const MAX_HUES = 6;
/** Interval for choosing bands again, in ms. */
const CHOSEN_MS = 500;
const BAND_MS = 250;

export class CpuViewMaker {
  private readonly order = new LineOrder();
  private readonly hues = new LineHues();
  private readonly spread: SpreadMaker;
  private chosen: Chosen | null = null;
  private of = "";
  private rank = "";
  private chosen_ms = Number.NEGATIVE_INFINITY;
  private band: { readonly view: ChartView; readonly made_ms: number } | null = null;

  /** @param clock Monotonic clock, ms. */
  constructor(private readonly clock: () => number) {
    this.spread = new SpreadMaker(clock);
  }

  /**
   * Choose bands again at once, after a changed request.
   * @param rank Changes with the ranking of lines.
   */
  outdate(rank: string): void {
    if (rank !== this.rank) this.order.release();
    this.rank = rank;
    this.chosen_ms = Number.NEGATIVE_INFINITY;
    this.band = null;
  }

  make(input: ViewInput, asked: ChartRequest): ChartView {
    const [field] = CHART_SPECS.cpu.fields;
    if (field !== undefined && input.model.counters.columnOf(field) < 0) {
      return emptyView(input, asked.chart, "absent", whyAbsent(input, field));
    }
    const scope = cpuScope(input);
    if (scope.kind === "whole") return this.whole(input, asked, scope);
    const { role, threads } = scope;
    const opened = { key: role.key, name: role.name, threads: threads.length };
    if (threads.length > MAX_HUES) {
      return this.banded(() => ({
        ...this.spread.view(input, threads, this.hues, role.colour),
        opened,
      }));
    }
    const chosen = this.choose(input, `role ${role.key}`, threads, MAX_HUES);
    const colours = this.hues.of(chosen.threads);
    const coloured = chosen.threads.map((thread, index) => ({
      ...thread,
      colour: colours[index] ?? thread.colour,
    }));
    const view = chartView(input, asked, { ...chosen, threads: coloured });
    return { ...withoutOthers(view), opened };
  }

  /** Bands move by whole columns, not by samples. */
  private banded(make: () => ChartView): ChartView {
    const now_ms = this.clock();
    if (!this.band || now_ms - this.band.made_ms >= BAND_MS) {
      this.band = { view: make(), made_ms: now_ms };
    }
    const { view } = this.band;
    // Arrays of a view are transferred to the page and become unusable here.
    const [time_s, low, high] = [view.time_s.slice(), view.low.slice(), view.high.slice()];
    return { ...view, time_s, low, high };
  }

  private whole(
    input: ViewInput,
    asked: ChartRequest,
    { by, items }: Extract<CpuScope, { kind: "whole" }>,
  ): ChartView {
    const { top_k } = input.request;
    const most = by === "thread" ? Math.min(top_k, MAX_HUES) : top_k;
    const chosen = this.choose(input, by, items, most);
    const colours =
      by === "thread" ? this.hues.of(chosen.threads) : chosen.threads.map(({ colour }) => colour);
    return stackView(input, asked, chosen, colours);
  }

  /** Items with a line, in an order that seldom changes. */
  private choose(input: ViewInput, of: string, items: Iterable<ChartItem>, most: number): Chosen {
    const now_ms = this.clock();
    if (of === this.of && this.chosen && now_ms - this.chosen_ms < CHOSEN_MS) return this.chosen;
    const before = new Set(this.chosen?.threads.map(({ key }) => key));
    const chosen = chooseThreads(input, "cpu", before, items, most);
    if (of !== this.of) this.order.release();
    this.of = of;
    this.chosen_ms = now_ms;
    // Selected items are included here, and nowhere else.
    const score = rankOf(input, "cpu");
    const ranked = chosen.threads
      .map((each) => ({ each, key: each.key, score: score(each) || 0 }))
      .sort((a, b) => b.score - a.score);
    const threads = this.order.of(ranked, now_ms).map(({ each }) => each);
    this.chosen = { ...chosen, threads };
    return this.chosen;
  }
}

/**
 * Without "others": one role's threads are complete, and the rest of the process is not part of the
 * role.
 */
function withoutOthers(view: ChartView): ChartView {
  const lines = view.lines.filter(({ kind }) => kind !== "others");
  const cut = lines.length * view.columns;
  const low = view.low.slice(0, cut);
  const high = view.high === view.low ? low : view.high.slice(0, cut);
  const y_max = high.reduce((most, value) => Math.max(most, value || 0), 0);
  return { ...view, lines, low, high, y_max, others_above: false, others: 0, peaks: null };
}

type CpuScope =
  /** The whole target, by process, role or thread. */
  | { readonly kind: "whole"; readonly by: Level; readonly items: readonly ChartItem[] }
  /** The threads of one of several roles, or of the only role on request. */
  | { readonly kind: "role"; readonly role: LevelSum; readonly threads: readonly Thread[] };

/**
 * Scope of the CPU chart: everything by role, or the threads of the selected role (or selected
 * thread's role). A program with one role is shown by thread; a group by process.
 */
function cpuScope(input: ViewInput): CpuScope {
  const { levels } = input.model;
  const roles = [...sumsIn(input, levels.roles.values())];
  const opened = openedRole(input, roles);
  if (opened) {
    const threads = [...threadsIn(input)].filter(({ role }) => role === opened.role);
    return { kind: "role", role: opened, threads };
  }
  if (levelOf(input) === "process") {
    return { kind: "whole", by: "process", items: [...sumsIn(input, levels.processes())] };
  }
  if (several(roles)) return { kind: "whole", by: "role", items: roles };
  return { kind: "whole", by: "thread", items: [...threadsIn(input)] };
}

/** Runtime-internal threads do not count as a second role. */
function several(roles: readonly LevelSum[]): boolean {
  return roles.filter(({ role }) => !isRuntimeRole(role)).length > 1;
}

function openedRole({ request, model }: ViewInput, roles: readonly LevelSum[]): LevelSum | null {
  const { selected } = request;
  if (selected === null) return null;
  const role = roles.find(({ key }) => key === selected);
  if (role) return role;
  // A thread of the only role already appears in the overall chart.
  if (!several(roles) || model.levels.grouped) return null;
  for (const thread of model.threads.all()) {
    if (thread.key === selected) return roles.find((each) => each.role === thread.role) ?? null;
  }
  return null;
}
