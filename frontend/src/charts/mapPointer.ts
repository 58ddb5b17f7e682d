/** The pointer's layer of the thread map: crosshair, frames around threads, the stretch dragged over. */

import { graphic } from "echarts/core";
import { rowAt } from "../model/mapLayout";
import { type MapPicture, placeOf } from "../model/mapPicture";
import type { Hover } from "../model/viewRequest";
import { type MapPlot, rowBox, STRIP_PX } from "./mapPlot";
import type { ChartTheme } from "./palette";
import { xOf } from "./plot";

/** See `Holder` in surface.ts. */
interface Holder {
  add(element: unknown): unknown;
}

export class MapPointer {
  readonly group = new graphic.Group({ silent: true });
  private readonly crosshair;
  private readonly selected;
  private readonly hovered;
  private readonly area;

  /** @param zlevel The canvas to draw on. */
  constructor(zlevel: number) {
    const hidden = { silent: true, zlevel, ignore: true };
    this.crosshair = new graphic.Line(hidden);
    this.selected = new graphic.Rect(hidden);
    this.hovered = new graphic.Rect(hidden);
    this.area = new graphic.Rect(hidden);
    const held: Holder = this.group;
    for (const element of [this.crosshair, this.selected, this.hovered, this.area]) {
      held.add(element);
    }
  }

  dress(theme: ChartTheme): void {
    this.crosshair.setStyle({ stroke: theme.crosshair, lineWidth: 1, lineDash: [3, 3] });
    this.selected.setStyle({ fill: "none", stroke: theme.text, lineWidth: 2 });
    this.hovered.setStyle({ fill: "none", stroke: theme.text, lineWidth: 1, lineDash: [2, 2] });
    this.area.setStyle({ fill: theme.crosshair, opacity: 0.3 });
  }

  /** The shared pointer moved, or another thread is selected. */
  point(picture: MapPicture | null, plot: MapPlot, hover: Hover, selected: string | null): void {
    const { crosshair } = this;
    const { t_s, key } = hover;
    const ignore = t_s === null || t_s < plot.t0_s || t_s > plot.t1_s;
    if (!ignore) {
      const x = Math.round(xOf(plot, t_s)) + 0.5;
      const y1 = plot.top - STRIP_PX;
      crosshair.attr({ ignore, shape: { x1: x, x2: x, y1, y2: plot.top + plot.height } });
    } else if (!crosshair.ignore) {
      crosshair.attr({ ignore });
    }
    frameRow(this.selected, picture, plot, selected);
    frameRow(this.hovered, picture, plot, key === selected ? null : key);
  }

  /** Show the stretch that is being dragged over, in pixels; null: none. */
  showArea(stretch: readonly [number, number] | null, { top, height }: MapPlot): void {
    if (!stretch) {
      if (!this.area.ignore) this.area.attr({ ignore: true });
      return;
    }
    const x = Math.min(...stretch);
    const width = Math.abs(stretch[1] - stretch[0]);
    this.area.attr({ ignore: false, shape: { x, y: top, width, height } });
  }
}

/** Put a frame around a thread's row; null: none. */
function frameRow(
  frame: InstanceType<typeof graphic.Rect>,
  picture: MapPicture | null,
  plot: MapPlot,
  key: string | null,
): void {
  const place = picture && key !== null ? placeOf(picture.layout, key) : -1;
  if (!picture || place < 0) {
    if (!frame.ignore) frame.attr({ ignore: true });
    return;
  }
  const { y, height } = rowBox(plot, rowAt(picture.layout, place));
  // A row of one pixel would vanish below its own frame.
  const room = Math.max(1.5, (5 - height) / 2);
  const { left, width } = plot;
  frame.attr({
    ignore: false,
    shape: { x: left - 1.5, y: y - room, width: width + 3, height: height + 2 * room },
  });
}
