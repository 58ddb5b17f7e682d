/**
 * Labels within a stacked chart: the name of each band with enough room, and the limit of the sum.
 */

import { shortenMiddle } from "../stream/format";
import type { ChartView } from "../stream/views";
import { labelOn } from "./canvasLayer";
import type { ChartTheme } from "./palette";
import { firstFrom, type Plot, yOf } from "./plot";

/** Minimum height of a band with a name, in CSS pixels. */
const ROOM_PX = 17;
const LABEL_PX = 13;
const FROM_RIGHT_PX = 6;
const MAX_LETTERS = 22;

/** A name in its band. */
export interface BandName {
  readonly text: string;
  /** Upper edge of the label, CSS pixels. */
  readonly y: number;
}

/** Names of the bands with enough room at the right end of the chart. */
export function bandNames(view: ChartView, plot: Plot): readonly BandName[] {
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
