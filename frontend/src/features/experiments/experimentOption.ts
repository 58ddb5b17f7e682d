/** A chart of an experiment as an ECharts option: means, their intervals, and each repeat. Pure. */

import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams } from "echarts";
import type { ChartTheme } from "../../chart/palette";
import { hueStyle } from "../../chart/palette";
import { groupColours } from "../../chart/stateColours";
import { GROUP_NAMES, type StateGroup } from "../../stream/states";
import type { ChartPoint, ExperimentChart } from "../../wire/generated/models";

const STATE_GROUPS = Object.keys(GROUP_NAMES) as StateGroup[];

const SYMBOLS = ["circle", "rect", "triangle", "diamond"] as const;
/** Half the width of interval caps, and the distance of lines at one size, in pixels. */
const CAP_PX = 5;
const APART_PX = 4;

/** Names of the series of all charts, in order: a series has the same look in each chart. */
export function seriesNames(charts: readonly ExperimentChart[]): readonly string[] {
  return [...new Set(charts.flatMap(({ series }) => series.map(({ name }) => name)))];
}

/** Place of a series among the names of all charts; its place in this chart if it is not there. */
function lookOf(chart: ExperimentChart, index: number, names: readonly string[]): number {
  const place = names.indexOf(chart.series[index]?.name ?? "");
  return place < 0 ? index : place;
}

/** Colour of a series; stacked states have the colour of the state. */
export function seriesColour(
  chart: ExperimentChart,
  index: number,
  theme: ChartTheme,
  names: readonly string[],
): string {
  const name = chart.series[index]?.name;
  const group =
    chart.kind === "stacked" ? STATE_GROUPS.find((one) => GROUP_NAMES[one] === name) : undefined;
  if (group !== undefined) return groupColours(theme.dark)[group];
  return hueStyle(lookOf(chart, index, names), theme).colour;
}

/** A number in axis style: few digits, no exponent for large numbers. */
export function numberText(value: number): string {
  const digits = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
  return digits.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/** A point with its interval, as text. */
export function pointText(point: ChartPoint): string {
  const { mean, low, high, values } = point;
  const interval =
    low === null || high === null ? "" : ` (${numberText(low)} to ${numberText(high)})`;
  const repeats = values.length > 0 ? `, ${values.length} repeats` : "";
  return `${numberText(mean)}${interval}${repeats}`;
}

/** Position of a point, as text. */
function placeText(x: readonly string[], point: ChartPoint): string {
  const asked = x[point.x] ?? "";
  return point.at === null ? asked : `at ${numberText(point.at)} (of ${asked})`;
}

/** A text alternative to the chart. */
export function describeChart({ title, x, y_label, series }: ExperimentChart): string {
  const parts = series.map(({ name, points }) => {
    const said = points.map((point) => `${placeText(x, point)} ${pointText(point)}`);
    return `${name === "" ? y_label : name}: ${said.join("; ")}`;
  });
  return `${title}. ${parts.join(". ")}.`;
}

/** Ends of the y axis: from 0, with all intervals unless they dwarf the values. */
export function chartRange(chart: ExperimentChart): readonly [number, number] {
  if (chart.kind === "stacked") return [0, 1];
  const points = chart.series.flatMap((each) => each.points);
  const values = points.flatMap(({ mean, values }) => [mean, ...values]);
  if (chart.reference !== null) values.push(chart.reference);
  const least = Math.min(0, ...values);
  const most = Math.max(0, ...values);
  const room = most - least || 1;
  const ends = points.flatMap(({ low, high }) =>
    low === null || high === null ? [] : [low, high],
  );
  // Values without any below 0 cannot be negative: an interval below 0 only reflects few repeats.
  const bottom = least === 0 ? 0 : Math.max(Math.min(least, ...ends), least - room);
  const top = Math.min(Math.max(most, ...ends), most + room);
  const pad = 0.06 * (top - bottom);
  if (pad === 0) return [0, 1];
  return [bottom < 0 ? bottom - pad : 0, top > 0 ? top + pad : 0];
}

/** Offset of a series beside others at one position, as a share of the position's width. */
export function besideOthers(index: number, count: number): number {
  return ((index - (count - 1) / 2) * 0.8) / count;
}

/** @param names See `seriesNames`. */
export function experimentOption(
  chart: ExperimentChart,
  theme: ChartTheme,
  names: readonly string[] = [],
) {
  const [min, max] = chartRange(chart);
  const label = { color: theme.muted, fontFamily: theme.font, fontSize: 11 };
  const count = chart.series.length;
  const hasNames = chart.kind === "bars" || chart.kind === "stacked";
  return {
    animation: false,
    backgroundColor: "transparent",
    grid: {
      left: 78,
      right: chart.kind === "curve" ? 30 : 18,
      top: 16,
      bottom: hasNames ? 62 : 46,
      outerBoundsMode: "none" as const,
    },
    tooltip: {
      trigger: "item" as const,
      confine: true,
      backgroundColor: theme.background,
      borderColor: theme.grid,
      padding: [6, 8],
      textStyle: { color: theme.text, fontFamily: theme.font, fontSize: 12 },
      formatter: ({ seriesIndex, dataIndex }: { seriesIndex?: number; dataIndex: number }) =>
        tooltipText(chart, seriesIndex ?? 0, dataIndex),
    },
    xAxis: {
      type: chart.kind === "curve" ? ("value" as const) : ("category" as const),
      ...(chart.kind === "curve" ? { min: 0, splitLine: { show: false } } : { data: [...chart.x] }),
      name: chart.x_label,
      nameLocation: "middle" as const,
      nameGap: 28,
      nameTextStyle: label,
      axisLine: { onZero: false, lineStyle: { color: theme.grid } },
      axisTick: { show: false },
      axisLabel: {
        ...label,
        interval: hasNames ? 0 : ("auto" as const),
        lineHeight: 14,
        // One matrix dimension per line.
        formatter: (text: string | number) =>
          typeof text === "number" ? numberText(text) : text.replaceAll(/ (?=\S+=)/g, "\n"),
        hideOverlap: true,
      },
    },
    yAxis: {
      type: "value" as const,
      min,
      max,
      axisLine: { show: false },
      splitLine: { lineStyle: { color: theme.grid } },
      axisLabel: { ...label, showMinLabel: min === 0, showMaxLabel: false, formatter: numberText },
    },
    series: chart.series.flatMap((one, index) => {
      const colour = seriesColour(chart, index, theme, names);
      const symbol = SYMBOLS[lookOf(chart, index, names) % SYMBOLS.length];
      const place = chart.kind === "bars" ? besideOthers(index, count) : 0;
      const shift = chart.kind === "lines" ? (index - (count - 1) / 2) * APART_PX : 0;
      const line =
        chart.kind === "lines" || chart.kind === "curve"
          ? {
              type: "line" as const,
              name: one.name,
              symbol,
              symbolSize: 8,
              itemStyle: { color: colour },
              lineStyle: { color: colour, width: 2 },
              emphasis: { disabled: true },
              data: one.points.map((point) => [placeOf(point), point.mean]),
              ...reference(chart, index, theme),
            }
          : {
              type: "bar" as const,
              name: one.name,
              ...(chart.kind === "stacked"
                ? { stack: "whole", barWidth: "60%" }
                : { barWidth: `${70 / count}%`, barGap: `${100 * (8 / 7) - 100}%` }),
              itemStyle: { color: colour, opacity: chart.kind === "stacked" ? 1 : 0.6 },
              emphasis: { disabled: true },
              data: one.points.map((point) => [point.x, point.mean]),
              ...reference(chart, index, theme),
            };
      return [
        line,
        {
          type: "custom" as const,
          name: one.name,
          silent: true,
          clip: true,
          z: 5,
          data: one.points.map((point) => [placeOf(point), point.mean, point.low, point.high]),
          renderItem: (_: CustomSeriesRenderItemParams, api: CustomSeriesRenderItemAPI) =>
            interval(one.points, api, place, shift, theme.text, colour),
        },
      ];
    }),
  };
}

/** Position of a point on the x axis. */
function placeOf(point: ChartPoint): number {
  return point.at ?? point.x;
}

function reference(chart: ExperimentChart, index: number, theme: ChartTheme) {
  if (chart.reference === null || index > 0) return {};
  return {
    markLine: {
      silent: true,
      symbol: "none",
      label: { show: false },
      lineStyle: { color: theme.crosshair, type: "solid" as const },
      data: [{ yAxis: chart.reference }],
    },
  };
}

/** An interval with caps, and a dot for each repeat. */
function interval(
  points: readonly ChartPoint[],
  api: CustomSeriesRenderItemAPI,
  place: number,
  shift: number,
  ink: string,
  colour: string,
) {
  const at = Number(api.value(0));
  const point = points.find((one) => placeOf(one) === at);
  if (point === undefined) return null;
  const size = api.size?.([1, 0]);
  const width = Array.isArray(size) ? Number(size[0]) : 0;
  const x = Number(api.coord([at, point.mean])[0]) + place * width + shift;
  const y = (value: number) => Number(api.coord([at, value])[1]);
  const dots = point.values.map((value) => ({
    type: "circle" as const,
    shape: { cx: x, cy: y(value), r: 2 },
    style: { fill: colour, opacity: 0.8 },
  }));
  const { low, high } = point;
  if (low === null || high === null) {
    return { type: "group" as const, children: dots };
  }
  const line = (x1: number, y1: number, x2: number, y2: number) => ({
    type: "line" as const,
    shape: { x1, y1, x2, y2 },
    style: { stroke: ink, lineWidth: 1.5 },
  });
  return {
    type: "group" as const,
    children: [
      line(x, y(low), x, y(high)),
      line(x - CAP_PX, y(low), x + CAP_PX, y(low)),
      line(x - CAP_PX, y(high), x + CAP_PX, y(high)),
      ...dots,
    ],
  };
}

/** Text of a tooltip. Series of the option come in pairs: means, then intervals. */
function tooltipText(chart: ExperimentChart, seriesIndex: number, dataIndex: number): string {
  const one = chart.series[Math.floor(seriesIndex / 2)];
  const point = one?.points[dataIndex];
  if (one === undefined || point === undefined) return "";
  const name = one.name === "" ? "" : `${one.name}, `;
  return escaped(`${name}${placeText(chart.x, point)}: ${pointText(point)} ${chart.unit}`);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
