/** How far rates were apart between the instants of a run: a pale band around each line. */

import { formatDuration, formatValue } from "../stream/format";
import type { ChartView, LineView } from "../stream/views";
import { type ChartTheme, lineStyle } from "./palette";
import { type Plot, xOf, yOf } from "./plot";

const OPACITY = 0.16;

/** Draw the bands of some lines; each reaches from one column back to the one before. */
export function drawPeaks(
  context: Pick<CanvasRenderingContext2D, "fillRect" | "fillStyle" | "globalAlpha">,
  view: ChartView,
  plot: Plot,
  theme: ChartTheme,
  shown: (line: LineView) => boolean,
): void {
  const { peaks, columns, time_s, lines } = view;
  if (!peaks) return;
  context.globalAlpha = OPACITY;
  lines.forEach((line, index) => {
    if (!shown(line)) return;
    context.fillStyle = lineStyle(line, view.chart, theme).colour;
    for (let c = 1; c < columns; c++) {
      const top = peaks.high[index * columns + c] ?? Number.NaN;
      const foot = peaks.low[index * columns + c] ?? Number.NaN;
      if (!(top > foot)) continue;
      const x = xOf(plot, time_s[c - 1] ?? 0);
      const y = yOf(plot, top);
      context.fillRect(x, y, xOf(plot, time_s[c] ?? 0) - x, yOf(plot, foot) - y);
    }
  });
  context.globalAlpha = 1;
}

/** What a tooltip says of a line at a column beside its value; "" if nothing is known. */
export function peakText(view: ChartView, line: number, column: number): string {
  const value = view.peaks?.high[line * view.columns + column] ?? Number.NaN;
  if (Number.isNaN(value)) return "";
  const least = view.lines[line]?.kind === "others" ? "at least " : "";
  return `up to ${least}${formatValue(value, view.unit)}`;
}

/** What these rates are, in words; null if the view has none. */
export function peaksNote({ peaks }: ChartView): string | null {
  if (!peaks) return null;
  return `“up to”: greatest rate over ${peaks.over_s} s, within ${formatDuration(peaks.within_s)}`;
}
