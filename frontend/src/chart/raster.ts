/**
 * Lines drawn into a frame buffer, one vertical run per pixel column. Stroking noisy lines on a
 * canvas without a GPU is 25 times slower. A line through many samples looks like a run in each
 * pixel column anyway. Ends of runs are blended by their pixel coverage. Colours of style sheets as
 * numbers.
 */

import type { ChartView } from "../stream/views";
import { firstFrom, type PixelGrid } from "./plot";

/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [number, number, number];

/** Drawing style of a line. */
export interface RasterStyle {
  readonly colour: Rgb;
  /** Opacity, 0 to 1. */
  readonly opacity: number;
  /** Thickness in pixels of the buffer. */
  readonly thickness: number;
  /** Columns on, columns off, …; [] is solid. Anchored to time, so that the dashes do not crawl. */
  readonly dash: readonly number[];
  /** Opacity of a band from low to high, 0 to 1, with an edge as thick as the line. */
  readonly fill?: number;
}

/** Fill style of a band. */
export interface BandStyle {
  readonly colour: Rgb;
  /** Opacity, 0 to 1. */
  readonly opacity: number;
  /** Thickness of its stripes, in pixels of the buffer; 0 for none. */
  readonly stripe: number;
}

/** Range of time and values that the buffer shows. */
export interface RasterScale extends PixelGrid {
  /** Value at the upper edge; the lower edge is 0. */
  readonly y_top: number;
}

/** Column range of a buffer: [from, to). */
export interface ColumnRange {
  readonly from: number;
  readonly to: number;
}

export class Raster {
  /** Uint8[height * width * 4], RGBA, colour not multiplied by alpha. */
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
  private readonly words: Uint32Array;
  /** Uppermost and lowest point of the line in each column. */
  private readonly upper: Float32Array;
  private readonly lower: Float32Array;
  /** Column range of the current `walk`, counted from second 0; `first` is the buffer's first. */
  private readonly bounds = { first: 0, from: 0, to: 0 };

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.pixels = new Uint8ClampedArray(4 * width * height);
    this.words = new Uint32Array(this.pixels.buffer);
    this.upper = new Float32Array(width);
    this.lower = new Float32Array(width);
  }

  /** Range of all columns. */
  get all(): ColumnRange {
    return { from: 0, to: this.width };
  }

  /** Clear some columns. */
  clear({ from, to }: ColumnRange = this.all): void {
    const { words, width, height } = this;
    if (from === 0 && to === width) words.fill(0);
    else for (let y = 0; y < height; y++) words.fill(0, y * width + from, y * width + to);
  }

  /** Scroll to the left; as many columns at the right hold garbage afterwards. */
  scroll(columns: number): void {
    if (columns > 0) this.words.copyWithin(0, columns);
  }

  /**
   * Draw one of a view's lines over existing content.
   * @param range Columns to draw; the result does not depend on the range.
   */
  line(
    view: ChartView,
    index: number,
    scale: RasterScale,
    style: RasterStyle,
    range: ColumnRange = this.all,
  ): void {
    const { from, to } = range;
    this.upper.fill(Number.POSITIVE_INFINITY, from, to);
    this.lower.fill(Number.NEGATIVE_INFINITY, from, to);
    this.walk(view, index, scale, range);
    const { dash } = style;
    let period = 0;
    for (const part of dash) period += part;
    const half = style.thickness / 2;
    for (let x = from; x < to; x++) {
      const top = this.upper[x] ?? 0;
      const bottom = this.lower[x] ?? 0;
      if (top > bottom) continue;
      // Steep columns of a dashed line would be isolated spikes: steep parts are solid.
      const flat = bottom - top <= 3 * style.thickness;
      const place = period > 0 && flat ? (((x + scale.first) % period) + period) % period : 0;
      if (period > 0 && flat && !isOn(dash, place)) continue;
      this.run(x, top - half, bottom + half, style);
    }
  }

  /**
   * Fill a band between a view's low and high, linearly from sample to sample, with an edge on top.
   * @param range Columns to draw; the result does not depend on the range.
   */
  area(
    view: ChartView,
    index: number,
    scale: RasterScale,
    style: RasterStyle,
    range: ColumnRange = this.all,
  ): void {
    const { columns, time_s, low, high } = view;
    const { per_s, first, y_top } = scale;
    const { width, height, words } = this;
    const [red, green, blue] = style.colour;
    const rgb = red | (green << 8) | (blue << 16);
    const body = rgb | (Math.round(255 * (style.fill ?? 1) * style.opacity) << 24);
    const edge = rgb | (Math.round(255 * style.opacity) << 24);
    const thick = Math.max(1, Math.round(style.thickness));
    const down = height / y_top;
    const base = index * columns;
    let c = Math.max(0, firstFrom(view, (range.from + first + 0.5) / per_s) - 1);
    for (let x = range.from; x < range.to; x++) {
      const t_s = (x + first + 0.5) / per_s;
      while (c + 1 < columns && (time_s[c + 1] ?? 0) <= t_s) c++;
      if (c + 1 >= columns || (time_s[c] ?? 0) > t_s) continue;
      const from_s = time_s[c] ?? 0;
      const share = (t_s - from_s) / ((time_s[c + 1] ?? 0) - from_s);
      const low0 = low[base + c] ?? Number.NaN;
      const high0 = high[base + c] ?? Number.NaN;
      const foot = low0 + share * ((low[base + c + 1] ?? Number.NaN) - low0);
      const head = high0 + share * ((high[base + c + 1] ?? Number.NaN) - high0);
      if (!(head > foot)) continue;
      const top = Math.max(0, Math.round(height - head * down));
      const bottom = Math.min(height, Math.round(height - foot * down));
      const below = Math.min(bottom, top + thick);
      for (let y = top; y < below; y++) words[y * width + x] = edge;
      for (let y = below; y < bottom; y++) words[y * width + x] = body;
    }
  }

  /**
   * Fill one of a view's bands from its low to its high, each column up to the next one's time. The
   * uppermost row stays free if there is room, so that adjacent bands differ without colour.
   */
  band(view: ChartView, index: number, scale: RasterScale, style: BandStyle): void {
    const { width, height, words } = this;
    const { columns, time_s, low, high } = view;
    const { per_s, first } = scale;
    const down = height / scale.y_top;
    const [red, green, blue] = style.colour;
    const rgb = red | (green << 8) | (blue << 16);
    const { stripe } = style;
    const alpha = Math.round(255 * style.opacity);
    const strong = Math.min(255, 3 * alpha);
    for (let c = 0; c + 1 < columns; c++) {
      const least = low[index * columns + c] ?? Number.NaN;
      if (Number.isNaN(least)) continue;
      const x0 = Math.max(0, Math.round((time_s[c] ?? 0) * per_s) - first);
      const x1 = Math.min(width, Math.round((time_s[c + 1] ?? 0) * per_s) - first);
      const bottom = Math.round(height - least * down);
      const top = Math.round(height - (high[index * columns + c] ?? least) * down);
      const from = Math.max(0, bottom - top > 3 ? top + 1 : top);
      for (let y = from; y < Math.min(height, bottom); y++) {
        for (let x = x0; x < x1; x++) {
          // Stripes are anchored to time, so that the pattern does not crawl.
          const striped = stripe > 0 && (x + first + y) % (4 * stripe) < stripe;
          words[y * width + x] = rgb | ((striped ? strong : alpha) << 24);
        }
      }
    }
  }

  /**
   * Find the uppermost and lowest point of a line in each column of a range. A column depends on
   * the samples within two columns, in coordinates that do not move with the window.
   */
  private walk(view: ChartView, index: number, scale: RasterScale, range: ColumnRange): void {
    const { columns, time_s, low, high, step } = view;
    const { per_s, first, y_top } = scale;
    const { height, bounds } = this;
    bounds.first = first;
    bounds.from = range.from + first;
    bounds.to = range.to + first;
    const down = height / y_top;
    const base = index * columns;
    let before = Number.NaN;
    let leave = 0;
    let middle = 0;
    for (let c = firstFrom(view, bounds.from / per_s) - 2; c < columns; c++) {
      if (c < 0) continue;
      const x = (time_s[c] ?? 0) * per_s;
      const least = low[base + c] ?? Number.NaN;
      if (Number.isNaN(least)) {
        before = Number.NaN;
        continue;
      }
      const yLeast = height - least * down;
      const yMost = height - (high[base + c] ?? least) * down;
      // A line enters at the end nearer to its previous position, and leaves at the other end.
      const joined = !Number.isNaN(before);
      const upper = joined && Math.abs(middle - yMost) < Math.abs(middle - yLeast);
      const enter = upper ? yMost : yLeast;
      if (joined) {
        this.segment(before, leave, x, step ? leave : enter);
        if (step) this.mark(Math.floor(x), leave, enter);
      }
      this.mark(Math.floor(x), yLeast, yMost);
      before = x;
      leave = upper ? yLeast : yMost;
      middle = (yLeast + yMost) / 2;
      if (x >= bounds.to) break;
    }
  }

  private segment(x0: number, y0: number, x1: number, y1: number): void {
    if (x1 <= x0) {
      this.mark(Math.floor(x0), y0, y1);
      return;
    }
    const slope = (y1 - y0) / (x1 - x0);
    const last = Math.min(this.bounds.to - 1, Math.floor(x1));
    for (let x = Math.max(this.bounds.from, Math.floor(x0)); x <= last; x++) {
      const from = Math.max(x0, x);
      const to = Math.min(x1, x + 1);
      this.mark(x, y0 + (from - x0) * slope, y0 + (to - x0) * slope);
    }
  }

  private mark(x: number, a: number, b: number): void {
    const { first, from, to } = this.bounds;
    if (x < from || x >= to) return;
    const top = Math.min(a, b);
    const bottom = Math.max(a, b);
    if (top < (this.upper[x - first] ?? 0)) this.upper[x - first] = top;
    if (bottom > (this.lower[x - first] ?? 0)) this.lower[x - first] = bottom;
  }

  /** Fill a vertical run; partly covered rows are blended. */
  private run(x: number, from: number, to: number, { colour, opacity }: RasterStyle): void {
    const { words, width } = this;
    const top = Math.max(0, from);
    const bottom = Math.min(this.height, to);
    const last = Math.min(this.height - 1, Math.ceil(bottom) - 1);
    const [red, green, blue] = colour;
    // Little-endian, as every browser's host is.
    const word = red | (green << 8) | (blue << 16);
    for (let y = Math.floor(top); y <= last; y++) {
      const alpha = opacity * (Math.min(bottom, y + 1) - Math.max(top, y));
      const at = y * width + x;
      if (alpha > 0.998 || words[at] === 0) {
        words[at] = word | (Math.min(255, Math.round(255 * alpha)) << 24);
      } else {
        this.blend(4 * at, colour, alpha);
      }
    }
  }

  /** Put a colour over a pixel ("source over", Porter and Duff 1984). */
  private blend(at: number, [red, green, blue]: Rgb, alpha: number): void {
    const { pixels } = this;
    const below = ((pixels[at + 3] ?? 0) / 255) * (1 - alpha);
    const sum = alpha + below;
    if (sum <= 0) return;
    const share = alpha / sum;
    pixels[at] = red * share + (pixels[at] ?? 0) * (1 - share);
    pixels[at + 1] = green * share + (pixels[at + 1] ?? 0) * (1 - share);
    pixels[at + 2] = blue * share + (pixels[at + 2] ?? 0) * (1 - share);
    pixels[at + 3] = 255 * sum;
  }
}

function isOn(dash: readonly number[], at: number): boolean {
  let rest = at;
  for (const [i, part] of dash.entries()) {
    if (rest < part) return i % 2 === 0;
    rest -= part;
  }
  return false;
}

const known = new Map<string, Rgb>();
let context: CanvasRenderingContext2D | null = null;

/** RGB of any CSS colour; black if invalid. */
export function rgbOf(colour: string): Rgb {
  const before = known.get(colour);
  if (before) return before;
  const rgb = hexRgb(colour) ?? paintedRgb(colour);
  known.set(colour, rgb);
  return rgb;
}

/** RGB of "#rrggbb"; null for any other notation. */
export function hexRgb(colour: string): Rgb | null {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour);
  if (!match) return null;
  const [, red = "0", green = "0", blue = "0"] = match;
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
}

/** A colour mixed with another by a share from 0 to 1, as "#rrggbb". */
export function mixed(colour: string, other: string, share: number): string {
  if (share === 0) return colour;
  const to = rgbOf(other);
  const parts = rgbOf(colour).map((part, i) => Math.round(part + ((to[i] ?? part) - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Parse any CSS colour by painting one pixel. */
function paintedRgb(colour: string): Rgb {
  if (!context) {
    const canvas = document.createElement("canvas");
    canvas.width = 1;
    canvas.height = 1;
    context = canvas.getContext("2d", { willReadFrequently: true });
  }
  if (!context) return [0, 0, 0];
  context.fillStyle = "#000";
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}
