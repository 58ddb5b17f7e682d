/** Path of one line from a view's arrays. */

import type { ChartView } from "../stream/views";
import { type Plot, xOf, yOf } from "./plot";

/** Operations used of a path under construction. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/**
 * Draw a line through the samples, or through lowest and highest value of each pixel column.
 * Missing values are gaps; a value between two gaps becomes a short dash.
 * @param index Index of the line in the view.
 */
export function traceLine(pen: Pen, view: ChartView, index: number, plot: Plot): void {
  const { columns, time_s, low, high, step } = view;
  const base = index * columns;
  const scale = plot.width / (plot.t1_s - plot.t0_s);
  const shift = plot.left - plot.t0_s * scale;
  const down = plot.height / plot.y_top;
  const foot = plot.top + plot.height;
  let open = false;
  let lone = false;
  let x = 0;
  let y = 0;
  for (let c = 0; c < columns; c++) {
    const bottom = low[base + c] ?? Number.NaN;
    if (Number.isNaN(bottom)) {
      if (lone) pen.lineTo(x + 1, y);
      open = false;
      lone = false;
      continue;
    }
    const top = high[base + c] ?? bottom;
    x = (time_s[c] ?? 0) * scale + shift;
    const yBottom = foot - bottom * down;
    const yTop = foot - top * down;
    lone = false;
    if (!open) {
      pen.moveTo(x, yBottom);
      open = true;
      lone = yTop === yBottom;
      y = yBottom;
    } else if (step) {
      pen.lineTo(x, y);
      pen.lineTo(x, yBottom);
      y = yBottom;
    } else if (Math.abs(y - yTop) < Math.abs(y - yBottom)) {
      // The end nearer to the line's current position comes first: no needless strokes.
      pen.lineTo(x, yTop);
      pen.lineTo(x, yBottom);
      y = yBottom;
      continue;
    } else {
      pen.lineTo(x, yBottom);
      y = yBottom;
    }
    if (yTop !== yBottom) {
      pen.lineTo(x, yTop);
      y = yTop;
    }
  }
  if (lone) pen.lineTo(x + 1, y);
}

/** End of a line: its last value within the plot; null if none. */
export function endOf(view: ChartView, index: number, plot: Plot): [number, number] | null {
  const { columns, time_s, high } = view;
  for (let c = columns - 1; c >= 0; c--) {
    const value = high[index * columns + c] ?? Number.NaN;
    const t_s = time_s[c] ?? 0;
    if (t_s < plot.t0_s) return null;
    if (!Number.isNaN(value) && t_s <= plot.t1_s) return [xOf(plot, t_s), yOf(plot, value)];
  }
  return null;
}
