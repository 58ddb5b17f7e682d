/**
 * Many threads of one role as a band: extremes, middle half, median, and the names of outliers.
 * Columns are anchored to absolute time, so that past columns are computed once. A new window is
 * filled from its end, a few columns per call.
 */

import { emptyView, PLAIN_LINE, type ViewInput } from "../chartView";
import { growth } from "../rank";
import type { LineHues } from "../roleHues";
import { firstOf, ringOf } from "../series";
import { PROCESS_SLOT, type Thread } from "../threads";
import type { ChartView, LineView } from "../views";

/** Columns of a window. */
const COLUMNS = 120;
/** Minimum length of a column: the kernel updates CPU times at ticks. */
const MIN_S = 0.5;
/** Number of outliers named, in addition to threads chosen by the user. */
const OUTLIERS = 4;
/** Outlier fence in multiples of the middle half (Tukey, Exploratory Data Analysis, 1977). */
const FENCE = 1.5;
/** Maximum work per call, in ms. */
const STEP_MS = 6;
const NS = 1e-9;

/** One column of all threads: CPU of each by slot, and the spread. */
interface Column {
  readonly rates: Float32Array;
  /** Minimum, lower quartile, median, upper quartile, maximum; NaN without threads. */
  readonly spread: Float64Array;
  /** All samples of the column have arrived. */
  readonly done: boolean;
}

export class SpreadMaker {
  private columns = new Map<number, Column>();
  private of = "";

  /** @param clock Monotonic clock, ms. */
  constructor(private readonly clock: () => number) {}

  /**
   * @param threads All threads of the role within the window.
   * @param hues Hues of the named threads.
   * @param colour Colour of the role.
   */
  view(input: ViewInput, threads: readonly Thread[], hues: LineHues, colour: number): ChartView {
    const { span, now_s, request, model } = input;
    const step_s = Math.max(MIN_S, (span.t1_s - span.t0_s) / COLUMNS);
    const of = `${threads[0]?.role} ${step_s} ${request.filter}`;
    if (of !== this.of) this.columns.clear();
    this.of = of;
    const end_s = Math.min(span.t1_s, now_s);
    const last = Math.ceil(end_s / step_s - 1e-9) - 1;
    const first = Math.floor(Math.max(span.t0_s, model.history.from_s) / step_s + 1e-9);
    if (last <= first) return emptyView(input, "cpu", "waiting", "not enough data yet");
    this.fill(input, threads, first, last, step_s);
    const named = namedOf(input, threads);
    const colours = hues.of(named);
    const count = last - first + 1;
    const own = named.map((thread, index) => ({
      ...PLAIN_LINE,
      ...{ key: thread.key, tid: thread.tid, name: thread.name, role: thread.role },
      colour: colours[index] ?? thread.colour,
      selected: thread.key === request.selected,
      pinned: request.pinned.includes(thread.key),
      exited: thread.end_s !== null && thread.end_s <= now_s,
    }));
    // The first line lies on top: bands come last.
    const bands = SPREADS.map(([spread]) => ({
      ...PLAIN_LINE,
      ...{ kind: "spread" as const, spread, name: NAMES[spread], colour },
    }));
    const lines: readonly LineView[] = [...own, ...bands];
    const low = new Float64Array(lines.length * count).fill(Number.NaN);
    const high = new Float64Array(low.length).fill(Number.NaN);
    const time_s = new Float64Array(count);
    let most = 0;
    for (let c = 0; c < count; c++) {
      const place = first + c;
      time_s[c] = Math.min((place + 0.5) * step_s, end_s);
      const column = this.columns.get(place);
      if (!column) continue;
      named.forEach((thread, index) => {
        const lived = thread.seen_s <= (place + 1) * step_s;
        const rate = lived ? (column.rates[thread.slot] ?? Number.NaN) : Number.NaN;
        low[index * count + c] = rate;
        high[index * count + c] = rate;
      });
      SPREADS.forEach(([, from, to], index) => {
        const at = (own.length + index) * count + c;
        low[at] = column.spread[from] ?? Number.NaN;
        high[at] = column.spread[to] ?? Number.NaN;
      });
      most = Math.max(most, column.spread[4] || 0);
    }
    return {
      ...emptyView(input, "cpu", "ok", ""),
      columns: count,
      time_s,
      low,
      high,
      lines: lines.map((line, index) => ({
        ...line,
        last: lastOf(high, index, count),
        ...(line.kind === "spread" ? { last_low: lastOf(low, index, count) } : {}),
      })),
      y_max: most,
      smoothing_s: step_s,
      others: threads.length - named.length,
    };
  }

  /** Compute columns, newest first, within the time limit. */
  private fill(
    input: ViewInput,
    threads: readonly Thread[],
    first: number,
    last: number,
    step_s: number,
  ): void {
    for (const place of this.columns.keys()) if (place < first) this.columns.delete(place);
    const start_ms = this.clock();
    for (let place = last; place >= first; place--) {
      if (this.columns.get(place)?.done) continue;
      this.columns.set(place, columnOf(input, threads, place, step_s));
      if (this.clock() - start_ms > STEP_MS) return;
    }
  }
}

/** Bands of a spread, with the indices of their lower and upper value. */
const SPREADS = [
  ["median", 2, 2],
  ["quartiles", 1, 3],
  ["range", 0, 4],
] as const;

const NAMES = { median: "median", quartiles: "middle half", range: "all" } as const;

function columnOf(
  { model, now_s }: ViewInput,
  threads: readonly Thread[],
  place: number,
  step_s: number,
): Column {
  const ring = ringOf("cpu_run_ns");
  const from_s = place * step_s;
  const to_s = from_s + step_s;
  const within = model.history.between(from_s, to_s);
  const took_s = (within.time_s[within.n - 1] ?? 0) - (within.time_s[0] ?? 0);
  const slots = threads.reduce((most, { slot }) => Math.max(most, slot), PROCESS_SLOT) + 1;
  const rates = new Float32Array(slots).fill(Number.NaN);
  const values = new Float64Array(threads.length);
  let n = 0;
  for (const { slot, sinceBlock, seen_s, end_s } of took_s > 0 ? threads : []) {
    if (seen_s > to_s || (end_s !== null && end_s <= from_s)) continue;
    const last = model.history.at(within, "last", slot, ring, sinceBlock);
    const begun = model.history.at(within, "first", slot, ring, sinceBlock);
    const start = Number.isNaN(begun) ? firstOf(model, slot, ring) : begun;
    const rate = (Math.max(0, last - start) * NS) / took_s;
    if (Number.isNaN(rate)) continue;
    rates[slot] = rate;
    values[n++] = rate;
  }
  const sorted = values.subarray(0, n).sort();
  const spread = Float64Array.from([0, 0.25, 0.5, 0.75, 1], (share) => quantile(sorted, share));
  return { rates, spread, done: to_s <= now_s };
}

/** Quantile of sorted values, interpolated between the nearest two; NaN if empty. */
export function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Threads with their own line: chosen by the user, or outliers. */
function namedOf(input: ViewInput, threads: readonly Thread[]): readonly Thread[] {
  const { model, request, span, now_s } = input;
  const chosen = threads.filter(
    ({ key }) => key === request.selected || request.pinned.includes(key),
  );
  const stretches = model.history.between(span.t0_s, Math.min(span.t1_s, now_s));
  const rings = [ringOf("cpu_run_ns")];
  const grown = threads.map((thread) => growth(model, stretches, thread, rings));
  const sorted = Float64Array.from(grown.filter((value) => !Number.isNaN(value))).sort();
  const lower = quantile(sorted, 0.25);
  const upper = quantile(sorted, 0.75);
  const middle = quantile(sorted, 0.5);
  // Equal threads differ by ticks: an outlier differs by at least a tenth of the median.
  const reach = Math.max(FENCE * (upper - lower), 0.1 * middle, 1e6);
  const far = threads
    .map((thread, index) => ({ thread, grown: grown[index] ?? Number.NaN }))
    .filter(({ grown: value }) => value > upper + reach || value < lower - reach)
    .sort((a, b) => Math.abs(b.grown - middle) - Math.abs(a.grown - middle))
    .slice(0, OUTLIERS)
    .map(({ thread }) => thread);
  return [...new Set([...chosen, ...far])];
}

function lastOf(values: Float64Array, line: number, count: number): number {
  return values[(line + 1) * count - 1] ?? Number.NaN;
}
