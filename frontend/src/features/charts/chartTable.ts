/** A chart as a table: values of its lines at some instants. */

import { formatValue, NO_VALUE } from "../../stream/format";
import type { ChartView, LineView } from "../../stream/views";

export interface ChartTable {
  readonly columns: readonly { readonly id: string; readonly name: string }[];
  /** Newest first. */
  readonly rows: readonly ChartTableRow[];
}

export interface ChartTableRow {
  readonly unix_ms: number;
  readonly cells: readonly string[];
}

/** Row intervals in seconds: the divisions of a clock face. */
const STEPS_S = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => 60 * minutes),
];
const ROWS = 12;
/** Maximum number of changes listed of a step chart. */
const CHANGES = 50;

/** Rows at round clock times, and the newest one; for a step chart each change. */
export function chartTable(view: ChartView): ChartTable {
  const places = view.step ? changesOf(view) : roundTimes(view);
  return {
    columns: view.lines.map((line) => ({ id: idOf(line), name: nameOf(line, view.lines) })),
    rows: places.map(({ t_s, column }) => ({
      unix_ms: view.attached_unix_ms + 1000 * t_s,
      cells: view.lines.map((_, line) => cellOf(view, line, column)),
    })),
  };
}

/** A row and its column in the view. */
interface Place {
  readonly t_s: number;
  readonly column: number;
}

function roundTimes({
  columns,
  time_s,
  t0_s,
  t1_s,
  attached_unix_ms,
}: ChartView): readonly Place[] {
  let column = columns - 1;
  while (column >= 0 && (time_s[column] ?? 0) > t1_s) column--;
  const newest_s = time_s[column] ?? Number.NaN;
  if (!(newest_s >= t0_s)) return [];
  const step_s = STEPS_S.find((step) => step >= (t1_s - t0_s) / ROWS) ?? 86_400;
  const phase_s = (attached_unix_ms / 1000) % step_s;
  const places: Place[] = [{ t_s: newest_s, column }];
  for (let n = Math.ceil((newest_s + phase_s) / step_s) - 1; ; n--) {
    const t_s = n * step_s - phase_s;
    if (t_s < t0_s) return places;
    while (column >= 0 && (time_s[column] ?? 0) > t_s) column--;
    if (column < 0) return places;
    // A time without samples does not show an earlier value.
    if (t_s - (time_s[column] ?? 0) < step_s) places.push({ t_s, column });
  }
}

function changesOf({ columns, time_s, low, high, lines }: ChartView): readonly Place[] {
  const places: Place[] = [];
  for (let column = 0; column < columns; column++) {
    const changed = lines.some((_, line) => {
      const at = line * columns + column;
      const differs = !Object.is(low[at], low[at - 1]) || !Object.is(high[at], high[at - 1]);
      return column === 0 || differs;
    });
    if (changed) places.unshift({ t_s: time_s[column] ?? 0, column });
  }
  return places.slice(0, CHANGES);
}

function cellOf(view: ChartView, line: number, column: number): string {
  const at = line * view.columns + column;
  const low = view.low[at] ?? Number.NaN;
  const high = view.high[at] ?? Number.NaN;
  if (Number.isNaN(high)) return NO_VALUE;
  // The value of a stacked band is its height.
  if (view.stacked || view.times) return formatValue(high - low, view.unit);
  const [from, to] = [formatValue(low, view.unit), formatValue(high, view.unit)];
  return from === to ? to : `${from} to ${to}`;
}

function idOf({ kind, key, name, variant, spread, part }: LineView): string {
  return [kind, key ?? name, variant, spread, part].join(" ");
}

function nameOf(line: LineView, lines: readonly LineView[]): string {
  const { name, variant_name } = line;
  const twins = lines.filter((each) => each.name === name && each.variant === line.variant);
  const id = line.pid ?? (twins.length > 1 ? line.tid : null);
  return [name, id, variant_name].filter((each) => each !== null && each !== "").join(" ");
}
