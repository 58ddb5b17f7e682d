/**
 * The cells of the thread map on a ring canvas: a new column overwrites the oldest, and two image
 * draws show the ring in order. Existing cells are never repainted, so that a tick costs one or two
 * columns.
 */

import { type ChartTheme, colourStyle } from "../../chart/palette";
import { type Rgb, rgbOf } from "../../chart/raster";
import { groupColours, groupNumbered, type MapScale, ramp, stepOf } from "../../chart/stateColours";
import { shortenMiddle } from "../../stream/format";
import { type MapGroup, type MapLayout, threadsOf } from "../../stream/mapLayout";
import {
  cellShares,
  cellValue,
  type MapPicture,
  NO_FIELD,
  ringPlace,
} from "../../stream/mapPicture";
import { CELL_STATES, isUnswitched, STATE_FIELD } from "../../stream/states";
import { type MapPlot, rowBox, STRIP_PX } from "./mapPlot";

/**
 * Minimum height of unshared rows with marks for a thread's birth and end, in CSS pixels. In shared
 * lanes the background between threads shows both.
 */
const MARKED_PX = 4;
/**
 * Distance of hatching lines in cells without a value, or with a value from /proc, in device
 * pixels.
 */
const HATCH = 4;

export class MapCanvas {
  readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d");
  private column = new ImageData(1, 1);
  private words = new Uint32Array(1);
  private colours = new Uint32Array(256);
  private painted = "";
  private to = 0;

  /**
   * Paint new columns; everything after a change of rows, scale or theme.
   * @returns Number of columns painted.
   */
  paint(picture: MapPicture, plot: MapPlot, scale: MapScale, theme: ChartTheme): number {
    const { view, edition, from, to } = picture;
    const height = Math.max(1, plot.edges[plot.edges.length - 1] ?? 0);
    const across = view.bin_px * plot.ratio;
    const { top, log } = scale;
    const states = view.field === STATE_FIELD;
    const spread = states ? "states" : `${top} ${log}`;
    const state = [edition, view.capacity, across, height, spread, theme.dark].join();
    let first = Math.max(from, Math.min(this.to - 1, picture.changed));
    if (state !== this.painted) {
      this.painted = state;
      first = from;
      this.fit(view.capacity * across, height, across);
      this.colours = states ? stateWords(theme.dark) : words(theme.dark);
    }
    const muted = word(rgbOf(theme.muted));
    const mark = word(rgbOf(theme.text));
    for (let k = first; k < to; k++) {
      this.fill(picture, plot, scale, k, muted, mark);
      this.context?.putImageData(this.column, ringPlace(k, view.capacity) * across, 0);
    }
    this.to = to;
    return to - first;
  }

  private fit(width: number, height: number, across: number): void {
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    } else {
      this.context?.clearRect(0, 0, width, height);
    }
    this.column = new ImageData(across, height);
    this.words = new Uint32Array(this.column.data.buffer);
  }

  /** Compute colours of one column. */
  private fill(
    picture: MapPicture,
    { edges, ratio }: MapPlot,
    scale: MapScale,
    k: number,
    muted: number,
    mark: number,
  ): void {
    const { view, layout } = picture;
    const { words, colours } = this;
    const states = view.field === STATE_FIELD;
    const across = this.column.width;
    const x0 = ringPlace(k, view.capacity) * across;
    // The page's first sample is not a birth, although nothing precedes it.
    const firstOwn = Math.floor((view.since_s ?? view.first_s) / view.bin_s);
    const marks = k > Math.max(firstOwn + 1, picture.from);
    for (let row = 0; row < layout.rows; row++) {
      const top = edges[row] ?? 0;
      const bottom = edges[row + 1] ?? top;
      const value = cellValue(picture, k, row);
      const none = Number.isNaN(value);
      const step = states ? value : stepOf(value, scale);
      const colour = none ? 0 : (colours[step] ?? 0);
      const hatched = value === NO_FIELD || (states && isUnswitched(cellShares(picture, k, row)));
      const [line, ground] = value === NO_FIELD ? [muted, 0] : [0, colour];
      const marked =
        marks &&
        threadsOf(layout, row) === 1 &&
        bottom - top >= MARKED_PX * ratio &&
        none !== Number.isNaN(cellValue(picture, k - 1, row));
      for (let y = top; y < bottom; y++) {
        const at = y * across;
        if (hatched) {
          for (let x = 0; x < across; x++) {
            words[at + x] = (x0 + x + y) % (HATCH * ratio) < ratio ? line : ground;
          }
        } else {
          words.fill(colour, at, at + across);
        }
        if (marked) words.fill(mark, at, at + Math.min(across, ratio));
      }
    }
  }
}

/** Pack a colour. Little-endian, as every browser's host is. */
function word([red, green, blue]: Rgb): number {
  return (red | (green << 8) | (blue << 16) | (255 << 24)) >>> 0;
}

/** Colours by state number. */
function stateWords(dark: boolean): Uint32Array<ArrayBuffer> {
  const groups = groupColours(dark);
  return Uint32Array.from({ length: CELL_STATES }, (_, number) => {
    const group = groupNumbered(number);
    return group === null ? 0 : word(rgbOf(groups[group]));
  });
}

function words(dark: boolean): Uint32Array<ArrayBuffer> {
  const parts = ramp(dark);
  return Uint32Array.from({ length: 256 }, (_, i) =>
    word([parts[3 * i] ?? 0, parts[3 * i + 1] ?? 0, parts[3 * i + 2] ?? 0]),
  );
}

/** Minimum height for a role name, in CSS pixels. */
const LABEL_PX = 13;
const BAND_PX = 4;
/** Minimum height of a row with its own band, in CSS pixels. */
const BANDED_PX = 6;

/** Draw colours, and as many names as fit. */
export function drawMapNames(
  context: CanvasRenderingContext2D,
  layout: MapLayout,
  plot: MapPlot,
  theme: ChartTheme,
): void {
  for (const { row, rows, colour } of bandsOf(layout, plot)) {
    const { y, height } = rowBox(plot, row, rows);
    context.fillStyle = colourStyle(colour, theme).colour;
    context.fillRect(plot.left - BAND_PX - 3, y, BAND_PX, Math.max(1, height - 1));
  }
  const right = plot.left - BAND_PX - 8;
  context.fillStyle = theme.muted;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.font = `10px ${theme.font}`;
  const turnover = plot.left > 100 ? "born ▴  exited ▾" : "born/exit";
  context.fillText(turnover, right, plot.top - STRIP_PX / 2 - 1);
  context.font = `11px ${theme.font}`;
  const room = plot.left - BAND_PX - 12;
  // Below the label of the strip of births and exits.
  let below = plot.top - STRIP_PX / 2 + 4;
  for (const group of layout.groups) {
    const { y, height } = rowBox(plot, group.row, group.rows);
    const middle = y + height / 2;
    if (middle - LABEL_PX / 2 < below) continue;
    below = middle + LABEL_PX / 2;
    const count = group.threads > 1 ? `×${group.threads}` : "";
    const sign = foldSign(group);
    if (height >= 2 * LABEL_PX && plot.left < 100) {
      const name = fitted(context, [sign, group.role, ""], room);
      context.fillText(name, right, middle - LABEL_PX / 2);
      context.fillText(count, right, middle + LABEL_PX / 2);
    } else {
      const after = count === "" ? "" : ` ${count}`;
      context.fillText(fitted(context, [sign, group.role, after], room), right, middle);
    }
  }
}

/** Sign that shows whether a press on the name folds or unfolds the stack. */
function foldSign({ fold, heading }: MapGroup): string {
  if (heading) return "▾ ";
  return fold === null ? "" : "▸ ";
}

/**
 * A name with prefix and suffix, fitted to a width by cutting its middle: names often differ at the
 * end.
 */
function fitted(
  context: CanvasRenderingContext2D,
  [before, name, after]: readonly [string, string, string],
  width: number,
): string {
  for (let letters = name.length; letters > 3; letters--) {
    const text = `${before}${shortenMiddle(name, letters)}${after}`;
    if (context.measureText(text).width <= width) return text;
  }
  return `${before}${shortenMiddle(name, 3)}${after}`;
}

/** Adjacent rows of one colour. */
type Band = Pick<MapGroup, "row" | "rows" | "colour">;

/**
 * Bands left of the rows: the thread's colour for an unshared row of sufficient height, otherwise
 * the role's.
 */
function bandsOf(layout: MapLayout, plot: MapPlot): readonly Band[] {
  const { groups, rows, first, colours, per_row } = layout;
  if (per_row > 1 || rows === 0 || rowBox(plot, 0).height < BANDED_PX) return groups;
  return groups.flatMap((group) =>
    Array.from({ length: group.rows }, (_, at) => {
      const row = group.row + at;
      const own = threadsOf(layout, row) === 1 ? colours[first[row] ?? 0] : undefined;
      return { row, rows: 1, colour: own ?? group.colour };
    }),
  );
}
