/** Rows of the table of differences: order, filter, text. Pure. */

import {
  fieldNamed,
  formatDifference,
  formatValue,
  NO_VALUE,
  shownRate,
  shownTotal,
} from "../../stream/format";
import type { ShownUnit } from "../../stream/views";
import type {
  ComparedMetric,
  FigureDifference,
  GroupFigure,
  Provenance,
  Verdict,
} from "../../wire/generated/models";
import type { RowOrder, RowScope } from "./link";

const UNITS: readonly ShownUnit[] = [
  "s",
  "bytes",
  "1/s",
  "count",
  "cores",
  "J",
  "W",
  "ms",
  "share",
];

/** A figure of a metric as text. */
export function figureText(metric: ComparedMetric, value: number | null): string {
  if (value === null) {
    return NO_VALUE;
  }
  if (fieldNamed(metric.metric) !== undefined) {
    const shown = metric.unit.endsWith("/s") ? shownRate : shownTotal;
    const { value: number, unit } = shown(metric.metric, value);
    return formatValue(number, unit);
  }
  const unit = UNITS.find((each) => each === metric.unit);
  return unit === undefined
    ? `${formatValue(value, "count")} ${metric.unit}`.trimEnd()
    : formatValue(value, unit);
}

/** A difference of figures as text, with its sign. */
export function differenceText(metric: ComparedMetric, value: number | null): string {
  if (value === null || value === 0) {
    return figureText(metric, value);
  }
  const text = figureText(metric, Math.abs(value));
  // A negligible value has no direction.
  return text.startsWith("<") ? text : `${value < 0 ? "−" : "+"}${text}`;
}

export function percentText(percent: number | null): string {
  if (percent === null) {
    return NO_VALUE;
  }
  return formatDifference(percent);
}

/** Texts of verdicts, with a sign as a cue beside colour. */
export const VERDICTS: Readonly<Record<Verdict, readonly [word: string, sign: string]>> = {
  better: ["better", ""],
  worse: ["worse", ""],
  more: ["more", ""],
  less: ["less", ""],
  equal: ["equal", "="],
  unclear: ["no clear difference", "≈"],
  unknown: ["n/a", ""],
};

/** The sign of a verdict: an arrow in the direction of the change. */
export function signOf({ verdict, absolute }: FigureDifference): string {
  const [, sign] = VERDICTS[verdict];
  return sign !== "" || absolute === null || absolute === 0 ? sign : absolute > 0 ? "▲" : "▼";
}

/** Half the width of the 95 % confidence interval of a mean; null without repeats. */
export function halfWidth({ mean, high }: GroupFigure): number | null {
  return mean === null || high === null ? null : high - mean;
}

/** Source of an inexact figure. */
export const PROVENANCE_TEXTS: Readonly<Record<Provenance, string | null>> = {
  exact: null,
  sampled: "Sampled, so it has an error; differences within it get no verdict.",
  estimated: "Estimated from other values.",
  quantised: "Rounded down by the kernel, to a multiple of 1024 for each thread.",
};

/** Sorted rows with a value whose metric or role contains the filter. */
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
    return fits && hasValue(row) && words.every((word) => text.includes(word));
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

/** Labels of the process' rows omitted from the table, because they are 0 in every run. */
export function zeroRows(metrics: readonly ComparedMetric[]): readonly string[] {
  return metrics
    .filter(({ role, groups }) => role === null && known(groups).length > 0)
    .filter((row) => !hasValue(row))
    .map(({ label }) => label);
}

/** Whether any run has a nonzero value. */
function hasValue({ groups }: ComparedMetric): boolean {
  return known(groups).some((value) => value !== 0);
}

function known(groups: readonly GroupFigure[]): readonly number[] {
  return groups.flatMap(({ values }) => values.filter((value) => value !== null));
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Sort key: the largest difference of a row, in percent; rows without one come last. */
function sizeOf({ differences }: ComparedMetric): number {
  return Math.max(-1, ...differences.map(({ percent }) => Math.abs(percent ?? -1)));
}

/** An interval on a bar centred at 0, as fractions of its length; null if none. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** Position of a difference and its interval on the bar. */
export function barOf({ absolute, low, high }: FigureDifference): Bar | null {
  if (absolute === null || low === null || high === null) {
    return null;
  }
  const most = Math.max(Math.abs(low), Math.abs(high), Math.abs(absolute));
  if (most === 0) {
    return null; // All equal: nothing to draw.
  }
  const place = (value: number) => 0.5 + (0.48 * value) / most;
  return { from: place(low), to: place(high), at: place(absolute) };
}
