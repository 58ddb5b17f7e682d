/**
 * Curves of several runs over one time axis: data and ECharts option. Pure. Curves of a comparison,
 * and their units. Pure.
 */

import { niceTop, Y_PARTS } from "../../chart/axes";
import { type ChartTheme, hueStyle, type LineStyle } from "../../chart/palette";
import {
  axisFormatter,
  fieldLabel,
  fieldNamed,
  formatDuration,
  formatValue,
  type Shown,
  shownRate,
  shownTotal,
} from "../../stream/format";
import { rates } from "../../stream/rate";
import { GROUP_NAMES } from "../../stream/states";
import type { ShownUnit } from "../../stream/views";
import type { ComparedRun, ComparedSeries } from "../../wire/generated/models";
import type { CurveKind } from "./link";

/** One run's curve, in the unit to show. */
export interface RunCurve {
  readonly name: string;
  /** Index of the run in the comparison: determines colour and dash everywhere. */
  readonly index: number;
  readonly time_s: readonly number[];
  /** Null if unknown. */
  readonly value: readonly (number | null)[];
}

export interface CurvesView {
  readonly curves: readonly RunCurve[];
  readonly unit: ShownUnit;
  /** Ends of the axes; equal for charts side by side. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly y_max: number;
  readonly step: boolean;
}

const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

/** Style of a run: colour and dash together are unique. */
export function runStyle(index: number, theme: ChartTheme): LineStyle {
  const dash = DASHES[index % DASHES.length] ?? [];
  return { ...hueStyle(index, theme), dash, width: 2 };
}

/**
 * Rate of a cumulative curve; each value is at the later end of its interval. Counters move in
 * ticks, so short intervals are noisy: each covers at least half the mean interval.
 */
export function ratesOf(
  time_s: readonly number[],
  value: readonly (number | null)[],
): (number | null)[] {
  const n = time_s.length;
  const least_s = ((time_s[n - 1] ?? 0) - (time_s[0] ?? 0)) / Math.max(1, n - 1) / 2;
  const readings = Float64Array.from(value, (each) => each ?? Number.NaN);
  const out = new Float64Array(n);
  rates(Float64Array.from(time_s), readings, n, least_s, out);
  return Array.from(out, (rate) => (Number.isNaN(rate) ? null : rate));
}

/** Axes that contain all curves. */
export function rangeOf(curves: readonly RunCurve[]): Pick<CurvesView, "t0_s" | "t1_s" | "y_max"> {
  let [t0_s, t1_s, y_max] = [0, 0, 0];
  for (const { time_s, value } of curves) {
    t0_s = Math.min(t0_s, time_s[0] ?? 0);
    t1_s = Math.max(t1_s, time_s.at(-1) ?? 0);
    for (const each of value) y_max = Math.max(y_max, each ?? 0);
  }
  return { t0_s, t1_s: t1_s > t0_s ? t1_s : t0_s + 1, y_max };
}

/** A text alternative to the chart. */
export function describeCurves({ curves, unit }: CurvesView, title: string): string {
  if (curves.length === 0) return `${title}: no data.`;
  const parts = curves.map(({ name, time_s, value }) => {
    const known = value.filter((each) => each !== null);
    if (known.length === 0) return `${name} has no value`;
    const most = formatValue(Math.max(...known), unit);
    return `${name} up to ${most} in ${formatDuration((time_s.at(-1) ?? 0) - (time_s[0] ?? 0))}`;
  });
  return `${title}: ${parts.join("; ")}.`;
}

/** Seconds from a run's zero, with a sign. */
export function offsetText(seconds: number): string {
  const size = Math.abs(seconds) < 0.0005 ? "0 s" : formatDuration(Math.abs(seconds));
  return seconds < -0.0005 ? `−${size}` : size;
}

/** The ECharts option: axes with given ends, one line per run, one tooltip for all. */
export function curvesOption(view: CurvesView, theme: ChartTheme) {
  const { curves, unit, t0_s, t1_s, step } = view;
  const top = niceTop(view.y_max, unit);
  const tick = axisFormatter(unit, top, top / Y_PARTS);
  const label = { color: theme.muted, fontFamily: theme.font, fontSize: 11 };
  return {
    animation: false,
    backgroundColor: "transparent",
    grid: { left: 62, right: 18, top: 12, bottom: 26, outerBoundsMode: "none" as const },
    tooltip: {
      trigger: "axis" as const,
      confine: true,
      backgroundColor: theme.background,
      borderColor: theme.grid,
      padding: [6, 8],
      textStyle: { color: theme.text, fontFamily: theme.font, fontSize: 12 },
      axisPointer: {
        type: "line" as const,
        lineStyle: { color: theme.crosshair, type: "dashed" as const },
      },
      valueFormatter: (value: unknown) =>
        formatValue(typeof value === "number" ? value : Number.NaN, unit),
    },
    xAxis: {
      type: "value" as const,
      min: t0_s,
      max: t1_s,
      axisLine: { onZero: false, lineStyle: { color: theme.grid } },
      axisTick: { lineStyle: { color: theme.grid } },
      splitLine: { show: false },
      axisLabel: {
        ...label,
        hideOverlap: true,
        showMinLabel: false,
        showMaxLabel: false,
        formatter: offsetText,
      },
      // Header of the tooltip.
      axisPointer: {
        label: { formatter: ({ value }: { value: unknown }) => offsetText(Number(value)) },
      },
    },
    yAxis: {
      type: "value" as const,
      min: 0,
      max: top,
      interval: top / Y_PARTS,
      axisLine: { show: false },
      splitLine: { lineStyle: { color: theme.grid } },
      axisLabel: { ...label, formatter: (value: number) => tick(value) },
    },
    series: curves.map(({ name, index, time_s, value }) => {
      const { colour, dash, width } = runStyle(index, theme);
      return {
        type: "line" as const,
        // Two runs may share a name.
        id: String(index),
        name,
        step: step ? ("end" as const) : (false as const),
        showSymbol: false,
        symbol: "circle",
        symbolSize: 6,
        emphasis: { disabled: true },
        itemStyle: { color: colour },
        lineStyle: { color: colour, width, type: dash.length > 0 ? [...dash] : ("solid" as const) },
        data: time_s.map((t_s, i) => [t_s, value[i] ?? null]),
      };
    }),
  };
}

/** Part of a comparison used for curves. */
export interface CurveSource {
  readonly runs: readonly Pick<ComparedRun, "run" | "name">[];
  readonly series: readonly ComparedSeries[];
}

/** Gauges, whose values are shown unconverted. */
const GAUGES: Readonly<Record<string, readonly [label: string, unit: ShownUnit]>> = {
  gomaxprocs: ["GOMAXPROCS", "count"],
  rss_bytes: ["Resident memory", "bytes"],
};

/** Prefix of metrics that are time in a group of states. */
const TIME_IN = "time_";

/** Name of the metric's group of states; undefined if none. */
function groupOf(metric: string): string | undefined {
  const names: Readonly<Record<string, string>> = GROUP_NAMES;
  return metric.startsWith(TIME_IN) ? names[metric.slice(TIME_IN.length)] : undefined;
}

/** Metrics with curves, in the comparison's order. */
export function curveMetrics({ series }: CurveSource): readonly string[] {
  return [...new Set(series.map(({ metric }) => metric))];
}

/** Roles with curves of a metric; "" is the whole process. */
export function curveRoles({ series }: CurveSource, metric: string): readonly string[] {
  const having = series.filter((each) => each.metric === metric);
  return [...new Set(having.map(({ role }) => role ?? ""))];
}

/** Whether a metric can be shown as a rate; gauges cannot. */
export function isCounter(metric: string): boolean {
  return GAUGES[metric] === undefined;
}

export function metricLabel(metric: string): string {
  const group = groupOf(metric);
  return GAUGES[metric]?.[0] ?? (group === undefined ? fieldLabel(metric) : `State: ${group}`);
}

/** The curves of all runs that have any. */
export function curvesOf(
  { series, runs }: CurveSource,
  metric: string,
  role: string,
  kind: CurveKind,
): CurvesView {
  const rate = kind === "rate" && isCounter(metric);
  const shown = (value: number): Shown => {
    // Nanoseconds per second, summed over threads, are the average number of threads.
    if (groupOf(metric)) return { value: value / 1e9, unit: rate ? "threads" : "s" };
    if (fieldNamed(metric) === undefined) return { value, unit: GAUGES[metric]?.[1] ?? "count" };
    return rate ? shownRate(metric, value) : shownTotal(metric, value);
  };
  const curves = runs.flatMap(({ run, name }, index): RunCurve[] => {
    const own = series.find(
      (each) => each.run === run && each.metric === metric && (each.role ?? "") === role,
    );
    if (own === undefined) {
      return [];
    }
    const { time_s } = own;
    const raw = rate ? ratesOf(time_s, own.value) : own.value;
    const value = raw.map((each) => (each === null ? null : shown(each).value));
    const twins = runs.slice(0, index).filter((other) => other.name === name).length;
    return [{ name: twins > 0 ? `${name} (${twins + 1})` : name, index, time_s, value }];
  });
  return { curves, unit: shown(0).unit, ...rangeOf(curves), step: metric === "gomaxprocs" };
}
