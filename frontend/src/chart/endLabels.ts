/**
 * Labels at line ends: the preferred position of each, and a position without overlaps. Labels
 * within a stacked chart: the name of each band with enough room, and the limit of the sum.
 */

import { shortenMiddle } from "../stream/format";
import type { ChartView, LineView } from "../stream/views";
import { labelOn } from "./canvasLayer";
import type { ChartTheme } from "./palette";
import { firstFrom, type Plot, xOf, yOf } from "./plot";

/** A line that ends this far left of the edge has ended earlier. */
const LATE_PX = 12;

/**
 * Height of a line's end at the right edge, in CSS pixels from the top. The middle of a stacked
 * band, the upper edge of another band; null if the line ends earlier or has no value.
 * @param index Index of the line in the view.
 */
export function endAt(view: ChartView, index: number, plot: Plot): number | null {
  const { columns, time_s, low, high, stacked } = view;
  const newest = Math.min(columns, firstFrom(view, plot.t1_s + 1e-9)) - 1;
  const edge = xOf(plot, time_s[newest] ?? Number.NaN) - LATE_PX;
  for (let c = newest; c >= 0 && xOf(plot, time_s[c] ?? 0) >= edge; c--) {
    const top = high[index * columns + c] ?? Number.NaN;
    if (Number.isNaN(top)) continue;
    const foot = low[index * columns + c] ?? top;
    const y = yOf(plot, stacked ? (top + foot) / 2 : top);
    return Math.min(plot.top + plot.height, Math.max(plot.top, y));
  }
  return null;
}

/** Ends of some lines of a view, in order; null unless each line has an end. */
export function endsOf(
  view: ChartView,
  lines: readonly LineView[],
  plot: Plot,
): readonly number[] | null {
  const ends = lines.flatMap((line) => endAt(view, view.lines.indexOf(line), plot) ?? []);
  return ends.length === lines.length ? ends : null;
}

/**
 * Place labels in order, a minimum distance apart, as near as possible to their preferred
 * positions. Least squares: labels that would collide are placed around the mean of their preferred
 * positions.
 * @param wanted In order from the top, CSS pixels.
 * @param pitch Minimum distance.
 * @param room Limits of the positions.
 * @returns Null if they do not fit.
 */
export function placeApart(
  wanted: readonly number[],
  pitch: number,
  [from, to]: readonly [number, number],
): readonly number[] | null {
  const last = to - pitch * (wanted.length - 1);
  if (last < from) return null;
  // With the pitch subtracted, positions must not decrease: pool adjacent violators.
  const pools: { sum: number; count: number }[] = [];
  for (const [n, y] of wanted.entries()) {
    let pool = { sum: y - n * pitch, count: 1 };
    let above = pools.at(-1);
    while (above && above.sum / above.count > pool.sum / pool.count) {
      pools.pop();
      pool = { sum: pool.sum + above.sum, count: pool.count + above.count };
      above = pools.at(-1);
    }
    pools.push(pool);
  }
  const free = pools.flatMap(({ sum, count }) => Array<number>(count).fill(sum / count));
  return free.map((y, n) => Math.min(last, Math.max(from, y)) + n * pitch);
}

/** Minimum height of a band with a name, in CSS pixels. */
const ROOM_PX = 17;
const LABEL_PX = 13;
const FROM_RIGHT_PX = 6;
const MAX_LETTERS = 22;

/** A name in its band. */
interface BandName {
  readonly text: string;
  /** Upper edge of the label, CSS pixels. */
  readonly y: number;
}

/** Names of the bands with enough room at the right end of the chart. */
function bandNames(view: ChartView, plot: Plot): readonly BandName[] {
  const { columns, lines, low, high } = view;
  const c = Math.min(columns - 1, firstFrom(view, plot.t1_s));
  if (c < 0) return [];
  const named = (name: string) => lines.filter((line) => line.name === name).length;
  return lines.flatMap(({ name, kind, tid }, index) => {
    const top = yOf(plot, high[index * columns + c] ?? Number.NaN);
    const foot = yOf(plot, low[index * columns + c] ?? Number.NaN);
    if (!(foot - top >= ROOM_PX) || (kind === "others" && view.others === 0)) return [];
    const y = Math.max(plot.top, (top + foot - LABEL_PX) / 2);
    const id = named(name) > 1 && tid !== null ? ` ${tid}` : "";
    return [{ text: shortenMiddle(name, MAX_LETTERS) + id, y }];
  });
}

export function drawBandNames(
  context: CanvasRenderingContext2D,
  view: ChartView,
  plot: Plot,
  theme: ChartTheme,
): void {
  const style = { font: `11px ${theme.font}`, fill: theme.text, background: theme.background };
  const right = plot.left + plot.width - FROM_RIGHT_PX;
  for (const { text, y } of bandNames(view, plot)) {
    labelOn(context, text, right, Math.round(y), style, "right");
  }
}

/** Draw limits of the sum as dashed levels; one above the plot is named at its upper edge. */
export function drawLimits(
  context: CanvasRenderingContext2D,
  { limits }: ChartView,
  plot: Plot,
  theme: ChartTheme,
): void {
  const style = { font: `11px ${theme.font}`, fill: theme.text, background: theme.background };
  let left = plot.left + 2;
  for (const { name, value } of limits) {
    const above = value > plot.y_top;
    const y = Math.round(above ? plot.top : yOf(plot, value)) + 0.5;
    if (!above) {
      context.strokeStyle = theme.text;
      context.lineWidth = 1;
      context.setLineDash([6, 4]);
      context.beginPath();
      context.moveTo(plot.left, y);
      context.lineTo(plot.left + plot.width, y);
      context.stroke();
      context.setLineDash([]);
    }
    // A limit is configured, not measured: it keeps its configured digits.
    const text = `${name} ${Number(value.toPrecision(3))}${above ? " ↑" : ""}`;
    labelOn(context, text, left, y + 1, style);
    left += context.measureText(text).width + 14;
  }
}
