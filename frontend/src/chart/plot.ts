/** Geometry of a chart: the position of its plot, and the mapping from values to pixels. */

import type { ChartView } from "../stream/views";

/** A plot in CSS pixels, and the values at its edges. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly t0_s: number;
  readonly t1_s: number;
  /** Value at the upper edge; the lower edge is 0. */
  readonly y_top: number;
}

/** Margins for labels around the plot. Fixed, so that label changes do not move the plot. */
export const MARGIN = { left: 62, right: 26, top: 10, bottom: 24 } as const;

/** Plot size for a chart of this size; at least one pixel. */
export function plotSize(width: number, height: number): { width: number; height: number } {
  return {
    width: Math.max(1, width - MARGIN.left - MARGIN.right),
    height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
  };
}

export function xOf(plot: Plot, t_s: number): number {
  return plot.left + ((t_s - plot.t0_s) / (plot.t1_s - plot.t0_s)) * plot.width;
}

export function yOf(plot: Plot, value: number): number {
  return plot.top + plot.height * (1 - value / plot.y_top);
}

/** Time at a pixel, within the plot. */
export function timeAt(plot: Plot, x: number): number {
  const share = Math.min(1, Math.max(0, (x - plot.left) / plot.width));
  return plot.t0_s + share * (plot.t1_s - plot.t0_s);
}

/** Index of a view's first column at or after a time; the column count if none. */
export function firstFrom({ columns, time_s }: ChartView, t_s: number): number {
  let low = 0;
  let high = columns;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((time_s[middle] ?? 0) < t_s) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a pixel is in the plot. */
export function inPlot(plot: Plot, x: number, y: number): boolean {
  return (
    x >= plot.left && x <= plot.left + plot.width && y >= plot.top && y <= plot.top + plot.height
  );
}

/** Time on the device's pixel grid. */
export interface PixelGrid {
  /** Pixels per second. */
  readonly per_s: number;
  /** Index of the first pixel, counted from second 0. */
  readonly first: number;
}

/**
 * The grid for drawing a span: it begins with a whole pixel, at or just before the span. Time then
 * moves by whole pixels, so that existing pixels can be scrolled instead of redrawn.
 * @param pixels Device pixels across.
 */
export function pixelGrid(
  { t0_s, t1_s }: { readonly t0_s: number; readonly t1_s: number },
  pixels: number,
): PixelGrid {
  const per_s = pixels / (t1_s - t0_s);
  return { per_s, first: Math.floor(t0_s * per_s + 1e-6) };
}
