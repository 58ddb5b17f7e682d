/** The layer of all lines that are not raised: a frame buffer shown as one zrender image. */

import { graphic } from "echarts/core";
import type { ChartView, LineView } from "../model/views";
import type { ChartTheme } from "./palette";
import { lineStyle, partStyle } from "./palette";
import type { Plot } from "./plot";
import { Raster } from "./raster";
import { rgbOf } from "./rgb";

export class LineLayer {
  readonly image: InstanceType<typeof graphic.Image>;
  private readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d");
  private raster = new Raster(1, 1);

  constructor(zlevel: number) {
    this.image = new graphic.Image({ silent: true, zlevel, z: 1, style: { image: this.canvas } });
  }

  /**
   * Draw a view's lines.
   *
   * @param raised Lines drawn elsewhere, on top; the others fade if there are any.
   */
  draw(view: ChartView, plot: Plot, theme: ChartTheme, raised: (line: LineView) => boolean): void {
    const ratio = window.devicePixelRatio || 1;
    this.fit(Math.round(plot.width * ratio), Math.round(plot.height * ratio));
    const { raster, canvas, context } = this;
    raster.clear();
    const opacity = view.lines.some(raised) ? 0.35 : 1;
    // Highest rank last, so that it lies on top.
    for (let index = view.lines.length - 1; index >= 0; index--) {
      const line = view.lines[index];
      if (!line || raised(line)) continue;
      if (line.part !== undefined) {
        const { colour, opacity: strength, striped } = partStyle(line.part, theme);
        const stripe = striped ? Math.max(1, Math.round(2 * ratio)) : 0;
        raster.band(view, index, plot, { colour: rgbOf(colour), opacity: strength, stripe });
        continue;
      }
      const style = lineStyle(line, view.chart, theme);
      raster.line(view, index, plot, {
        colour: rgbOf(style.colour),
        opacity,
        thickness: style.width * ratio,
        dash: style.dash.map((part) => Math.round(part * ratio)),
      });
    }
    context?.putImageData(new ImageData(raster.pixels, raster.width, raster.height), 0, 0);
    const { left: x, top: y, width, height } = plot;
    this.image.attr({ ignore: false });
    this.image.setStyle({ image: canvas, x, y, width, height });
  }

  hide(): void {
    if (!this.image.ignore) this.image.attr({ ignore: true });
  }

  private fit(width: number, height: number): void {
    if (this.raster.width === width && this.raster.height === height) return;
    this.raster = new Raster(width, height);
    this.canvas.width = width;
    this.canvas.height = height;
  }
}
