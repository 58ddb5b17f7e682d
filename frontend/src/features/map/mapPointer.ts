/** The pointer's marks on the thread map: crosshair, frames around threads, the stretch dragged over. */

import type { ChartTheme } from "../../chart/palette";
import { xOf } from "../../chart/plot";
import { drawCrosshair } from "../../chart/surface";
import { rowAt } from "../../stream/mapLayout";
import { type MapPicture, placeOf } from "../../stream/mapPicture";
import type { Hover } from "../../stream/viewRequest";
import { type MapPlot, rowBox, STRIP_PX } from "./mapPlot";

/** What is pointed at. */
export interface MapPoint {
  readonly hover: Hover;
  readonly selected: string | null;
  /** Dragged over, in pixels; null: nothing. */
  readonly stretch: readonly [number, number] | null;
}

/** Draw crosshair, frames and stretch. */
export function drawMapPointer(
  context: CanvasRenderingContext2D,
  picture: MapPicture | null,
  plot: MapPlot,
  { hover, selected, stretch }: MapPoint,
  theme: ChartTheme,
): void {
  const { t_s, key } = hover;
  const { top, height } = plot;
  if (stretch) {
    context.globalAlpha = 0.3;
    context.fillStyle = theme.crosshair;
    context.fillRect(Math.min(...stretch), top, Math.abs(stretch[1] - stretch[0]), height);
    context.globalAlpha = 1;
  }
  if (t_s !== null && t_s >= plot.t0_s && t_s <= plot.t1_s) {
    const x = Math.round(xOf(plot, t_s)) + 0.5;
    drawCrosshair(context, x, top - STRIP_PX, top + height, theme);
  }
  context.strokeStyle = theme.text;
  if (picture && selected !== null) {
    context.lineWidth = 2;
    strokeRow(context, picture, plot, selected);
  }
  if (picture && key !== null && key !== selected) {
    context.lineWidth = 1;
    context.setLineDash([2, 2]);
    strokeRow(context, picture, plot, key);
    context.setLineDash([]);
  }
}

/** Put a frame around a thread's row. */
function strokeRow(
  context: CanvasRenderingContext2D,
  picture: MapPicture,
  plot: MapPlot,
  key: string,
): void {
  const place = placeOf(picture.layout, key);
  if (place < 0) return;
  const { y, height } = rowBox(plot, rowAt(picture.layout, place));
  // A row of one pixel would vanish below its own frame.
  const room = Math.max(1.5, (5 - height) / 2);
  const { left, width } = plot;
  context.strokeRect(left - 1.5, y - room, width + 3, height + 2 * room);
}
