/** All lines of a chart, drawn from a buffer onto a canvas. */

import type { ChartView, LineView } from "../stream/views";
import type { ChartTheme } from "./palette";
import { lineStyle, partStyle, stackStyle } from "./palette";
import type { PixelGrid, Plot } from "./plot";
import type { RasterStyle } from "./raster";
import { rgbOf } from "./rgb";
import { ScrollingRaster } from "./scrollingRaster";

const FADED = 0.35;

export class LineLayer {
  private raster = new ScrollingRaster(1, 1);
  private image: ImageData | null = null;
  private styles: readonly RasterStyle[] = [];
  private styleKey = "";
  private theme: ChartTheme | null = null;

  /**
   * Draw a view's lines into a canvas, over existing content of the plot.
   * @param grid Pixel grid of the plot in device pixels.
   * @param ratio Device pixels per CSS pixel.
   * @param raised Highlighted lines; used for stacked bands, which cannot be drawn on top.
   * @param faded Whether other lines are faded.
   */
  draw(
    context: CanvasRenderingContext2D,
    view: ChartView,
    plot: Plot,
    grid: PixelGrid,
    ratio: number,
    theme: ChartTheme,
    raised: (line: LineView) => boolean,
    faded: boolean,
  ): void {
    this.fit(Math.round(plot.width * ratio), Math.round(plot.height * ratio));
    const scale = { ...grid, y_top: plot.y_top };
    if (view.times) this.bands(view, scale, theme, ratio);
    else {
      this.dress(view, theme, ratio, (line) => faded && !(view.stacked && raised(line)));
      this.raster.lines(view, scale, this.styles, this.styleKey);
    }
    if (!this.image) return;
    context.putImageData(this.image, Math.round(plot.left * ratio), Math.round(plot.top * ratio));
  }

  private bands(
    view: ChartView,
    scale: PixelGrid & { readonly y_top: number },
    theme: ChartTheme,
    ratio: number,
  ): void {
    this.raster.forget();
    this.raster.clear();
    for (let index = view.lines.length - 1; index >= 0; index--) {
      const part = view.lines[index]?.part;
      if (part === undefined) continue;
      const { colour, opacity, striped } = partStyle(part, theme);
      const stripe = striped ? Math.max(1, Math.round(2 * ratio)) : 0;
      this.raster.band(view, index, scale, { colour: rgbOf(colour), opacity, stripe });
    }
  }

  /** Styles, recomputed when their inputs have changed. */
  private dress(
    view: ChartView,
    theme: ChartTheme,
    ratio: number,
    faded: (line: LineView) => boolean,
  ): void {
    let styleKey = `${view.stacked} ${ratio}`;
    for (const line of view.lines) {
      const { key, name, colour, variant, selected, pinned } = line;
      styleKey += ` ${key ?? name} ${colour} ${variant} ${selected} ${pinned} ${faded(line)}`;
    }
    if (styleKey === this.styleKey && theme === this.theme) return;
    this.raster.forget();
    this.styleKey = styleKey;
    this.theme = theme;
    const styleOf = view.stacked ? stackStyle : lineStyle;
    this.styles = view.lines.map((line) => {
      const { colour, width, dash, fill } = styleOf(line, view.chart, theme);
      return {
        colour: rgbOf(colour),
        opacity: faded(line) ? FADED : 1,
        thickness: width * ratio,
        dash: dash.map((part) => Math.round(part * ratio)),
        ...(fill === undefined ? {} : { fill }),
      };
    });
  }

  private fit(width: number, height: number): void {
    if (this.image && this.raster.width === width && this.raster.height === height) return;
    this.raster = new ScrollingRaster(width, height);
    this.image = new ImageData(this.raster.pixels, width, height);
  }
}
