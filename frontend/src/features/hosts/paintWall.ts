/** Tiles drawn on a canvas: a bar of thread states, a line of cores, and the name. */

import { groupColours } from "../../chart/stateColours";
import { type Grid, inView, type Tile } from "./wall";

/** Colours of a theme that a wall needs. */
export interface WallColours {
  readonly dark: boolean;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly background: string;
  readonly warning: string;
  readonly font: string;
}

/** Colours of the natures of a bar, those that the page has for such states. */
export function natureColours(dark: boolean): readonly string[] {
  const colours = groupColours(dark);
  return [colours.running, colours.runnable, colours.locks, colours.sleep, colours.parked];
}

const GAP = 4;
const PAD = 6;
const BAR = 7;
const NAME = 15;
const LINE_STEP = 3;

/** Tile with its place on the canvas. */
interface Placed {
  readonly tile: Tile;
  readonly x: number;
  readonly y: number;
}

/**
 * Draw the tiles in view of a wall that is scrolled to `top`. Shapes of one colour share a path:
 * thousands of separate fills and strokes take tens of milliseconds.
 */
export function paintWall(
  context: CanvasRenderingContext2D,
  tiles: readonly Tile[],
  grid: Grid,
  view: { readonly top: number; readonly height: number },
  colours: WallColours,
): void {
  const { first, last } = inView(grid, tiles.length, view.top, view.height);
  const placed = tiles.slice(first, last).map((tile, place): Placed => {
    const at = first + place;
    const row = Math.floor(at / grid.columns);
    return { tile, x: (at % grid.columns) * grid.width, y: row * grid.height - view.top };
  });
  const width = grid.width - GAP;
  const height = grid.height - GAP;
  const pad = grid.named ? PAD : 3;
  const bar = grid.named ? BAR : 5;
  const top = pad + (grid.named ? NAME : 0);
  const inner = width - 2 * pad;

  paintFrames(context, placed, width, height, colours, grid.named);
  if (grid.named) paintNames(context, placed, inner, colours);
  natureColours(colours.dark).forEach((fill, nature) => {
    context.beginPath();
    for (const { tile, x, y } of placed)
      addPart(context, tile, nature, x + pad, y + top, inner, bar);
    context.fillStyle = fill;
    context.fill();
  });
  context.beginPath();
  const line = top + bar + 3;
  for (const { tile, x, y } of placed) {
    addLine(context, tile.cores, x + pad, y + line, inner, height - pad - line + 1);
  }
  context.strokeStyle = colours.muted;
  context.lineWidth = 1;
  context.stroke();
}

function paintFrames(
  context: CanvasRenderingContext2D,
  placed: readonly Placed[],
  width: number,
  height: number,
  colours: WallColours,
  framed: boolean,
): void {
  const frame = (odd: boolean) => {
    context.beginPath();
    for (const { tile, x, y } of placed) {
      if ((tile.why !== "") === odd) context.rect(x + 0.5, y + 0.5, width - 1, height - 1);
    }
    context.fillStyle = colours.background;
    context.fill();
    // Gaps alone divide the smallest tiles.
    if (!framed && !odd) return;
    context.lineWidth = odd ? 2 : 1;
    context.strokeStyle = odd ? colours.warning : colours.grid;
    context.stroke();
  };
  frame(false);
  frame(true);
}

function paintNames(
  context: CanvasRenderingContext2D,
  placed: readonly Placed[],
  width: number,
  colours: WallColours,
): void {
  context.font = `11px ${colours.font}`;
  context.textAlign = "left";
  context.textBaseline = "top";
  for (const { tile, x, y } of placed) {
    context.fillStyle = tile.states.length === 0 ? colours.muted : colours.text;
    const count = tile.hosts.length > 1 ? ` · ${tile.hosts.length}` : "";
    const name = `${tile.why === "" ? "" : "▲ "}${tile.name}`;
    context.fillText(fitted(name, count, width), x + PAD, y + PAD);
  }
}

/** Longest start of a name that fits with its count, by the mean width of a letter. */
function fitted(name: string, count: string, width: number): string {
  const most = Math.floor(width / 6.1) - count.length;
  return (name.length > most ? `${name.slice(0, Math.max(1, most - 1))}…` : name) + count;
}

/** Add a nature's part of a bar to the path. */
function addPart(
  context: CanvasRenderingContext2D,
  { states }: Tile,
  nature: number,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  const whole = states.reduce((sum, one) => sum + one, 0);
  const part = states[nature] ?? 0;
  if (!(whole > 0) || part === 0) return;
  const before = states.slice(0, nature).reduce((sum, one) => sum + one, 0);
  context.rect(x + (width * before) / whole, y, (width * part) / whole, height);
}

/** Add a line of values to the path, from 0 to their greatest. */
function addLine(
  context: CanvasRenderingContext2D,
  values: Float32Array,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  if (height < 3 || values.length < 2) return;
  let top = 0;
  for (const value of values) if (value > top) top = value;
  // Points closer than three pixels cost time and show nothing.
  const step = Math.max(1, Math.ceil((LINE_STEP * (values.length - 1)) / width));
  let pen = false;
  for (let at = 0; at < values.length; at += step) {
    const value = values[at] ?? Number.NaN;
    if (!Number.isFinite(value)) {
      pen = false;
      continue;
    }
    const right = x + (width * at) / (values.length - 1);
    const up = y + height - (top > 0 ? value / top : 0) * (height - 1) - 0.5;
    if (pen) context.lineTo(right, up);
    else context.moveTo(right, up);
    pen = true;
  }
}
