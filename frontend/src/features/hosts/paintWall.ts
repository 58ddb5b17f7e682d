/** Tiles drawn on a canvas: a bar of thread states, a line of cores, and the name. */

import { groupColours } from "../../chart/stateColours";
import { BAR_NATURES } from "./unusual";
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

/** Draw the tiles in view of a wall that is scrolled to `top`. */
export function paintWall(
  context: CanvasRenderingContext2D,
  tiles: readonly Tile[],
  grid: Grid,
  view: { readonly top: number; readonly height: number },
  colours: WallColours,
): void {
  const { first, last } = inView(grid, tiles.length, view.top, view.height);
  const fills = natureColours(colours.dark);
  context.textBaseline = "top";
  for (let at = first; at < last; at++) {
    const tile = tiles[at];
    if (tile === undefined) continue;
    const x = (at % grid.columns) * grid.width;
    const y = Math.floor(at / grid.columns) * grid.height - view.top;
    paintTile(
      context,
      tile,
      { x, y, width: grid.width - GAP, height: grid.height - GAP },
      {
        ...{ colours, fills, named: grid.named },
      },
    );
  }
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function paintTile(
  context: CanvasRenderingContext2D,
  tile: Tile,
  box: Box,
  style: {
    readonly colours: WallColours;
    readonly fills: readonly string[];
    readonly named: boolean;
  },
): void {
  const { colours, fills, named } = style;
  const pad = named ? PAD : 3;
  const inner = box.width - 2 * pad;
  context.fillStyle = colours.background;
  context.fillRect(box.x, box.y, box.width, box.height);
  context.lineWidth = tile.why === "" ? 1 : 2;
  context.strokeStyle = tile.why === "" ? colours.grid : colours.warning;
  context.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
  let y = box.y + pad;
  if (named) {
    context.font = `11px ${colours.font}`;
    const count = tile.hosts.length > 1 ? ` · ${tile.hosts.length}` : "";
    context.fillStyle = tile.states.length === 0 ? colours.muted : colours.text;
    context.fillText(
      fitted(context, `${tile.why === "" ? "" : "▲ "}${tile.name}`, count, inner),
      box.x + pad,
      y,
    );
    y += 15;
  }
  const bar = named ? BAR : 5;
  const whole = tile.states.reduce((sum, one) => sum + one, 0);
  if (whole > 0) {
    let left = box.x + pad;
    for (let at = 0; at < BAR_NATURES.length; at++) {
      const width = (inner * (tile.states[at] ?? 0)) / whole;
      context.fillStyle = fills[at] ?? colours.muted;
      context.fillRect(left, y, width, bar);
      left += width;
    }
  } else {
    context.fillStyle = colours.grid;
    context.fillRect(box.x + pad, y + bar / 2 - 0.5, inner, 1);
  }
  y += bar + 3;
  paintLine(
    context,
    tile.cores,
    { x: box.x + pad, y, width: inner, height: box.y + box.height - pad - y + 1 },
    colours.muted,
  );
}

/** Longest start of a name that fits with its count. */
function fitted(
  context: CanvasRenderingContext2D,
  name: string,
  after: string,
  width: number,
): string {
  // Proportional text: estimate first, since measuring thousands of names takes milliseconds.
  const most = Math.floor(width / 6.1) - after.length;
  const text = name.length > most ? `${name.slice(0, Math.max(1, most - 1))}…` : name;
  context.textAlign = "left";
  return text + after;
}

function paintLine(
  context: CanvasRenderingContext2D,
  values: Float32Array,
  box: Box,
  colour: string,
): void {
  let top = 0;
  for (const value of values) if (value > top) top = value;
  if (box.height < 3 || values.length < 2) return;
  context.beginPath();
  let pen = false;
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? Number.NaN;
    if (!Number.isFinite(value)) {
      pen = false;
      continue;
    }
    const x = box.x + (box.width * at) / (values.length - 1);
    const y = box.y + box.height - (top > 0 ? value / top : 0) * (box.height - 1) - 0.5;
    if (pen) context.lineTo(x, y);
    else context.moveTo(x, y);
    pen = true;
  }
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
}
