/**
 * All lines of a chart, drawn from a buffer onto a canvas. Lines on a scrolling buffer. The
 * previous drawing is scrolled, and only columns with new or changed samples are redrawn. The
 * result equals a full redraw, pixel for pixel.
 */

import type { ChartView, LineView } from "../stream/views";
import { type ChartTheme, lineStyle, partStyle, stackStyle } from "./palette";
import { firstFrom, type PixelGrid, type Plot } from "./plot";
import { type ColumnRange, Raster, type RasterScale, type RasterStyle, rgbOf } from "./raster";

/** Number of samples at the left edge that may differ: rates look back past the window's start. */
const EDGE = 64;

export class ScrollingRaster extends Raster {
  private view: ChartView | null = null;
  private scale: RasterScale | null = null;
  private styleKey = "";

  /** Invalidate the buffer, after other content was drawn. */
  forget(): void {
    this.view = null;
  }

  /**
   * Draw a view's lines in reverse order; the first one lies on top.
   * @param styles A style per line.
   * @param styleKey Changes whenever lines or styles do.
   * @returns Number of columns drawn.
   */
  lines(
    view: ChartView,
    scale: RasterScale,
    styles: readonly RasterStyle[],
    styleKey: string,
  ): number {
    const ranges = this.stale(view, scale, styleKey);
    this.view = view;
    this.scale = scale;
    this.styleKey = styleKey;
    let drawn = 0;
    for (const range of ranges) {
      if (range.to <= range.from) continue;
      drawn += range.to - range.from;
      this.clear(range);
      for (let index = styles.length - 1; index >= 0; index--) {
        const style = styles[index];
        if (style?.fill !== undefined) this.area(view, index, scale, style, range);
        else if (style) this.line(view, index, scale, style, range);
      }
    }
    return drawn;
  }

  /** Scroll existing content; return the columns to redraw. */
  private stale(view: ChartView, scale: RasterScale, styleKey: string): readonly ColumnRange[] {
    const { view: before, scale: past, width } = this;
    if (!before || !past || styleKey !== this.styleKey) return [this.all];
    if (scale.per_s !== past.per_s || scale.y_top !== past.y_top) return [this.all];
    const moved = scale.first - past.first;
    if (moved < 0 || moved >= width) return [this.all];
    const same = sameSamples(before, view);
    if (!same) return [this.all];
    const { per_s, first } = scale;
    const columnOf = (c: number) => Math.floor((view.time_s[c] ?? 0) * per_s) - first;
    // The segment after the first unchanged sample depends on the sample before it.
    const left = Math.max(0, columnOf(same.from + 1) + 1);
    const right = Math.min(columnOf(same.to - 1), width - moved);
    if (right <= left) return [this.all];
    this.scroll(moved);
    return [
      { from: 0, to: Math.min(left, width) },
      { from: right, to: width },
    ];
  }
}

/** Range of columns unchanged since the previous view; null if hardly any. */
export function sameSamples(before: ChartView, now: ChartView): ColumnRange | null {
  if (before.lines.length !== now.lines.length || before.step !== now.step) return null;
  const at = placeOf(before, now.time_s[0] ?? Number.NaN);
  if (at < 0) return null;
  let to = Math.min(now.columns, before.columns - at);
  let c = 0;
  while (c < to && now.time_s[c] === before.time_s[at + c]) c++;
  to = c;
  let from = 0;
  const ranged = now.high !== now.low || before.high !== before.low;
  for (let line = 0; line < now.lines.length; line++) {
    const own = line * now.columns;
    const past = line * before.columns + at;
    for (c = Math.min(EDGE, to) - 1; c >= from; c--) {
      if (differs(before, past + c, now, own + c, ranged)) from = c + 1;
    }
    for (c = Math.max(EDGE, from); c < to; c++) {
      if (differs(before, past + c, now, own + c, ranged)) to = c;
    }
  }
  return to - from < 2 ? null : { from, to };
}

function differs(
  before: ChartView,
  past: number,
  now: ChartView,
  own: number,
  ranged: boolean,
): boolean {
  if (!same(before.low[past], now.low[own])) return true;
  return ranged && !same(before.high[past], now.high[own]);
}

function same(a: number | undefined, b: number | undefined): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

/** Index of a time in a view; -1 if missing. */
function placeOf(view: ChartView, t_s: number): number {
  const place = firstFrom(view, t_s);
  return place < view.columns && view.time_s[place] === t_s ? place : -1;
}

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
