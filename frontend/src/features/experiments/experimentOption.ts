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
/** Room beside the plot, in pixels. */
const LEFT_PX = 78;
const RIGHT_PX = 18;
/** Least width of a name on the x axis, in pixels; of names that overlap, some are left out. */
const LEAST_NAME_PX = 56;
/** Width of a character and height of a line of a name, in pixels; a name has at most four lines. */
const CHARACTER_PX = 6.5;
const LINE_PX = 14;
const MOST_LINES = 4;

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

/** A mean with half its interval, which two digits suffice for. */
export function meanText(mean: number, low: number | null, high: number | null): string {
  if (low === null || high === null) return numberText(mean);
  return `${numberText(mean)} ± ${numberText(Number((high - mean).toPrecision(2)))}`;
}

/** Places of an axis without the name that all of them share, and that name; "" if none. */
export function sharedName(x: readonly string[]): {
  readonly name: string;
  readonly places: readonly string[];
} {
  const named = x.filter((place) => place.includes("="));
  const names = new Set(named.map((place) => place.slice(0, place.indexOf("="))));
  const [name = ""] = names;
  const one = names.size === 1 && named.every((place) => !/ \S+=/.test(place));
  if (!one) return { name: "", places: x };
  const prefix = `${name}=`;
  const places = x.map((place) => (place.startsWith(prefix) ? place.slice(prefix.length) : place));
  return { name, places };
}

/** Parts of a place, one for each dimension of the matrix. */
function dimensions(place: string): readonly string[] {
  return place.split(/ (?=\S+=)/);
}

/** Lines of the longest name of an axis, if a line has some pixels. */
function linesOfNames(places: readonly string[], room_px: number): number {
  const lines = places.map((place) =>
    dimensions(place).reduce(
      (sum, { length }) => sum + Math.ceil((CHARACTER_PX * length) / room_px),
      0,
    ),
  );
  return Math.min(MOST_LINES, Math.max(1, ...lines));
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

/**
 * @param names See `seriesNames`.
 * @param width Width of the chart, in CSS pixels.
 */
export function experimentOption(
  chart: ExperimentChart,
  theme: ChartTheme,
  names: readonly string[] = [],
  width = 600,
) {
  const [min, max] = chartRange(chart);
  const label = { color: theme.muted, fontFamily: theme.font, fontSize: 11 };
  const count = chart.series.length;
  const hasNames = chart.kind === "bars" || chart.kind === "stacked";
  const axis = hasNames ? sharedName(chart.x) : { name: "", places: chart.x };
  const each = (width - LEFT_PX - RIGHT_PX) / Math.max(1, chart.x.length);
  const room = Math.max(LEAST_NAME_PX, each - 6);
  const names_px = LINE_PX * linesOfNames(axis.places, room);
  return {
    animation: false,
    backgroundColor: "transparent",
    grid: {
      left: LEFT_PX,
      right: chart.kind === "curve" ? 30 : RIGHT_PX,
      top: 16,
      bottom: hasNames ? names_px + 32 : 46,
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
      ...(chart.kind === "curve"
        ? { min: 0, splitLine: { show: false } }
        : { data: [...axis.places] }),
      name: chart.x_label || axis.name,
      nameLocation: "middle" as const,
      nameGap: hasNames ? names_px + 14 : 28,
      nameTextStyle: label,
      axisLine: { onZero: false, lineStyle: { color: theme.grid } },
      axisTick: { show: false },
      axisLabel: {
        ...label,
        interval: hasNames ? 0 : ("auto" as const),
        lineHeight: LINE_PX,
        ...(hasNames ? { width: room, overflow: "break" as const } : {}),
        // One matrix dimension per line.
        formatter: (text: string | number) =>
          typeof text === "number" ? numberText(text) : dimensions(text).join("\n"),
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
