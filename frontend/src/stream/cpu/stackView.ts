/** Stacked bands: the CPU share of each role, thread or process. */

import type { ChartItem, ProcessLife } from "../chartItem";
import { CHART_SPECS, type ChartSpec } from "../chartSpecs";
import { type Chosen, emptyView, PLAIN_LINE, type ViewInput } from "../chartView";
import { type Columns, columnsFor } from "../decimate";
import type { Stretches } from "../history";
import { rates, smoothingFor } from "../rate";
import { readProcess, readThread, ringOf, timesOf } from "../series";
import type { ChartRequest } from "../viewRequest";
import type { ChartView, LimitView, LineView } from "../views";

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
export function stackView(
  input: ViewInput,
  { chart, width_px }: ChartRequest,
  chosen: Chosen,
  colours: readonly number[],
): ChartView {
  const { model, span, now_s } = input;
  const width_s = span.t1_s - span.t0_s;
  const smoothing_s = Math.max(
    smoothingFor(model.arriving_hz || 10),
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
