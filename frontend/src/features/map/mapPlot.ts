/** Geometry of the thread map: rows and columns, in CSS pixels and device pixels. */

import type { Plot } from "../../chart/plot";
import type { Span } from "../../stream/window";

/** Margins around the cells; births and exits are drawn above. */
const RIGHT = 26;
const TOP = 24;
const BOTTOM = 24;
const WIDE_PX = 640;
/** Maximum row height, in CSS pixels: otherwise few threads would look like bars. */
const MAX_ROW_PX = 28;

/** Height of the strip of births and exits, just above the cells. */
export const STRIP_PX = 16;

/** Left edge of the cells, to the right of role names. */
export function mapLeft(width: number): number {
  return width >= WIDE_PX ? 150 : 78;
}

/** Size of the plot in an element of this size. */
export function mapSize(width: number, height: number): { width: number; height: number } {
  return {
    width: Math.max(1, Math.floor(width) - mapLeft(width) - RIGHT),
    height: Math.max(1, height - TOP - BOTTOM),
  };
}

export interface MapPlot extends Plot {
  /** Device pixels per CSS pixel, a whole number. */
  readonly ratio: number;
  /** Int32[rows + 1]: upper edges of the rows below the plot's top, device pixels. */
  readonly edges: Int32Array;
}

/** The plot of a map with this number of rows. */
export function mapPlot(
  size: { readonly width: number; readonly height: number },
  span: Span | null,
  rows: number,
  pixelRatio: number,
): MapPlot {
  const ratio = Math.max(1, Math.round(pixelRatio));
  const plot = mapSize(size.width, size.height);
  const high = ratio * Math.min(plot.height, rows * MAX_ROW_PX);
  return {
    left: mapLeft(size.width),
    top: TOP,
    ...plot,
    t0_s: span?.t0_s ?? 0,
    t1_s: span?.t1_s ?? 1,
    y_top: 1,
    ratio,
    edges: Int32Array.from({ length: rows + 1 }, (_, r) => Math.floor((r * high) / rows)),
  };
}

/** Row under a pixel of the element; -1 if none. */
export function rowUnder({ top, edges, ratio }: MapPlot, y: number): number {
  const rows = edges.length - 1;
  const high = edges[rows] ?? 0;
  const at = Math.floor((y - top) * ratio);
  if (at < 0 || at >= high) return -1;
  let row = Math.min(rows - 1, Math.floor((at * rows) / high));
  while (row + 1 < rows && (edges[row + 1] ?? 0) <= at) row++;
  return row;
}

/** Upper edge and height of some rows in the element, CSS pixels. */
export function rowBox(plot: MapPlot, row: number, rows = 1): { y: number; height: number } {
  const { top, edges, ratio } = plot;
  const from = edges[row] ?? 0;
  return { y: top + from / ratio, height: ((edges[row + rows] ?? from) - from) / ratio };
}
