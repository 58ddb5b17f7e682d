/** Colours of style sheets as numbers. */

import type { Rgb } from "./raster";

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
