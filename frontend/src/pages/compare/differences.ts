/** Rows of the table of differences: order, filter, words. Pure. */

import { fieldNamed, formatTotal, formatValue, NO_VALUE } from "../../model/format";
import type { ShownUnit } from "../../model/views";
import type { ComparedMetric, FigureDifference } from "../../wire/generated/models";
import type { RowOrder, RowScope } from "./link";

const UNITS: readonly ShownUnit[] = ["s", "bytes", "1/s", "count", "cores", "J", "W", "ms"];

/** A figure of a metric as text. */
export function figureText(metric: ComparedMetric, value: number | null): string {
  if (value === null) {
    return NO_VALUE;
  }
  if (fieldNamed(metric.metric) !== undefined) {
    return formatTotal(metric.metric, value);
  }
  const unit = UNITS.find((each) => each === metric.unit);
  return unit === undefined ? `${value.toPrecision(3)} ${metric.unit}` : formatValue(value, unit);
}

/** The same of a difference: with its sign. */
export function differenceText(metric: ComparedMetric, value: number | null): string {
  if (value === null || value === 0) {
    return figureText(metric, value);
  }
  return `${value < 0 ? "−" : "+"}${figureText(metric, Math.abs(value))}`;
}

export function percentText(percent: number | null): string {
  if (percent === null) {
    return NO_VALUE;
  }
  const size = Math.abs(percent);
  const text = size >= 1000 ? size.toFixed(0) : size.toFixed(1);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${text} %`;
}

/** How a group did against the first one. */
export interface Verdict {
  /** better, worse: the interval leaves out 0, or there is none to say otherwise. */
  readonly word:
    | "better"
    | "worse"
    | "more"
    | "less"
    | "no clear difference"
    | "equal"
    | "not known";
  readonly arrow: "▲" | "▼" | "=" | "≈" | "";
  /** Without repeats nobody knows whether it is chance. */
  readonly sure: boolean;
}

/** Judge a difference: which way, and whether the interval leaves 0 out. */
export function verdictOf({ better }: ComparedMetric, difference: FigureDifference): Verdict {
  const { absolute, low, high } = difference;
  if (absolute === null) {
    return { word: "not known", arrow: "", sure: false };
  }
  if (absolute === 0) {
    return { word: "equal", arrow: "=", sure: low !== null };
  }
  const tested = low !== null && high !== null;
  if (tested && low <= 0 && high >= 0) {
    return { word: "no clear difference", arrow: "≈", sure: true };
  }
  const up = absolute > 0;
  const arrow = up ? "▲" : "▼";
  if (better === "neither") {
    return { word: up ? "more" : "less", arrow, sure: tested };
  }
  return { word: up === (better === "more") ? "better" : "worse", arrow, sure: tested };
}

/** Rows that say something, whose metric or role holds a text, in an order. */
export function rowsOf(
  metrics: readonly ComparedMetric[],
  scope: RowScope,
  filter: string,
  order: RowOrder,
): readonly ComparedMetric[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const rows = metrics.filter((row) => {
    const text = `${row.metric} ${row.label} ${row.role ?? ""}`.toLowerCase();
    const fits = (row.role === null) === (scope === "process");
    return fits && saysSomething(row) && words.every((word) => text.includes(word));
  });
  switch (order) {
    case "given":
      return rows;
    case "metric":
      return [...rows].sort((a, b) => compareText(a.label, b.label));
    case "size":
      return [...rows].sort((a, b) => sizeOf(b) - sizeOf(a));
  }
}

/** Roles of most programs have nothing to do with most fields. */
function saysSomething({ groups, role }: ComparedMetric): boolean {
  const known = groups.flatMap(({ values }) => values.filter((value) => value !== null));
  return known.some((value) => role === null || value !== 0);
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The largest difference of a row, in percent; what has none comes last. */
function sizeOf({ differences }: ComparedMetric): number {
  return Math.max(-1, ...differences.map(({ percent }) => Math.abs(percent ?? -1)));
}

/** An interval on a bar whose middle is 0, as parts of its length; null: there is none. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** Where a difference and its interval stand on its bar. */
export function barOf({ absolute, low, high }: FigureDifference): Bar | null {
  if (absolute === null || low === null || high === null) {
    return null;
  }
  const most = Math.max(Math.abs(low), Math.abs(high), Math.abs(absolute));
  if (most === 0) {
    return null; // equal, all of them: there is nothing to draw
  }
  const place = (value: number) => 0.5 + (0.48 * value) / most;
  return { from: place(low), to: place(high), at: place(absolute) };
}
