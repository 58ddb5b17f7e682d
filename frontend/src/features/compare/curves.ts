/** Curves of a comparison, and their units. Pure. */

import { fieldLabel, fieldNamed, type Shown, shownRate, shownTotal } from "../../stream/format";
import { GROUP_NAMES } from "../../stream/states";
import type { ShownUnit } from "../../stream/views";
import type { ComparedRun, ComparedSeries } from "../../wire/generated/models";
import { type CurvesView, type RunCurve, rangeOf, ratesOf } from "./curvesOption";
import type { CurveKind } from "./link";

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
