/** A flame graph on two canvases: boxes with their names, and the marks of pointer and cursor. */

import { CanvasLayer } from "./canvasLayer";
import { type FlameBox, type FlameTree, linesOf } from "./flame";
import type { ChartTheme } from "./palette";
import { mixed } from "./raster";

/** Height of a line, with the gap below it, in CSS pixels. */
export const LINE_PX = 20;
const GAP_PX = 1;
/** Minimum width of a drawn box, in CSS pixels. */
export const MIN_BOX_PX = 2;
/** Minimum width of a box with text, and the space beside the text, in CSS pixels. */
const TEXT_PX = 30;
const PAD_PX = 4;
/** How far a box that a search does not match fades into the background. */
const FADED = 0.72;
const STRIPE_PX = 6;

/** Appearance of a row. */
export interface BoxStyle {
  readonly fill: string;
  /** Text in the box. */
  readonly text: string;
  /** Striped: time of which nothing is known. */
  readonly hatched: boolean;
  /** Whether a search matches; null without a search. */
  readonly match: boolean | null;
}

export interface FlamePicture {
  readonly tree: FlameTree;
  readonly boxes: readonly FlameBox[];
  /** Width of the graph, in CSS pixels. */
  readonly width: number;
  /** Roots below, callees above. */
  readonly upwards: boolean;
  readonly theme: ChartTheme;
  readonly styleOf: (row: number) => BoxStyle;
}

/** Height of a picture, in CSS pixels. */
export function flameHeight(boxes: readonly FlameBox[]): number {
  return LINE_PX * Math.max(1, linesOf(boxes));
}

/** Depth at a height, and the upper edge of a depth: one is the inverse of the other. */
export function depthAt(y: number, lines: number, upwards: boolean): number {
  const line = Math.floor(y / LINE_PX);
  return upwards ? lines - 1 - line : line;
}

export function topOf(depth: number, lines: number, upwards: boolean): number {
  return LINE_PX * (upwards ? lines - 1 - depth : depth);
}

/** Cut a text to a width at its end; "" if not even two letters fit. */
export function cutText(text: string, room: number, widthOf: (text: string) => number): string {
  const whole = widthOf(text);
  if (whole <= room) return text;
  let count = Math.floor((text.length * room) / whole);
  while (count > 1 && widthOf(`${text.slice(0, count)}…`) > room) count--;
  return count > 1 ? `${text.slice(0, count)}…` : "";
}

export class FlameSurface {
  private readonly boxes: CanvasLayer;
  private readonly marks: CanvasLayer;
  private picture: FlamePicture | null = null;

  /** @param container Positioned; the canvases are appended. */
  constructor(container: HTMLElement) {
    this.boxes = new CanvasLayer(container);
    this.marks = new CanvasLayer(container);
  }

  draw(picture: FlamePicture): void {
    this.picture = picture;
    const { boxes, width, theme, upwards } = picture;
    const lines = linesOf(boxes);
    const height = flameHeight(boxes);
    this.boxes.fit(width, height);
    this.marks.fit(width, height);
    this.boxes.clear();
    const { context } = this.boxes;
    if (!context) return;
    const font = `12px ${theme.font}`;
    context.textBaseline = "middle";
    const widthOf = (text: string) => context.measureText(text).width;
    for (const box of boxes) {
      const { x, across } = this.edges(box, width);
      const y = topOf(box.depth, lines, upwards);
      const { fill, text, hatched, match } = picture.styleOf(box.row);
      const ground = box.above ? mixed(theme.background, theme.text, 0.08) : fill;
      context.fillStyle = match === false ? mixed(ground, theme.background, FADED) : ground;
      context.fillRect(x, y, across, LINE_PX - GAP_PX);
      if (hatched) this.stripe(context, x, y, across, theme);
      if (match === true) this.frame(context, x, y, across, { colour: theme.text, thick: 1.5 });
      if (across < TEXT_PX) continue;
      context.font = match === true ? `600 ${font}` : font;
      context.fillStyle = box.above || match === false ? theme.muted : theme.text;
      const shown = cutText(text, across - 2 * PAD_PX, widthOf);
      if (shown !== "") context.fillText(shown, x + PAD_PX, y + (LINE_PX - GAP_PX) / 2 + 0.5);
    }
  }

  /** Mark the boxes under the pointer and of the keyboard's cursor; null for none. */
  mark(pointed: number | null, cursor: number | null): void {
    this.marks.clear();
    const { picture } = this;
    const { context } = this.marks;
    if (!context || !picture) return;
    const lines = linesOf(picture.boxes);
    for (const [row, thick] of [
      [pointed, 1],
      [cursor, 2],
    ] as const) {
      const box = row === null ? undefined : picture.boxes.find((each) => each.row === row);
      if (!box) continue;
      const { x, across } = this.edges(box, picture.width);
      const y = topOf(box.depth, lines, picture.upwards);
      this.frame(context, x, y, across, { colour: picture.theme.text, thick });
    }
  }

  dispose(): void {
    this.boxes.remove();
    this.marks.remove();
  }

  /** Edges on whole device pixels, so that neighbours neither overlap nor blur. */
  private edges({ left, width: share }: FlameBox, width: number) {
    const ratio = this.boxes.ratio || 1;
    const snap = (value: number) => Math.round(value * ratio) / ratio;
    const x = snap(left * width);
    const end = snap((left + share) * width);
    // Narrow boxes have no gap: it would hide them.
    const gap = end - x > 3 ? GAP_PX : 0;
    return { x, across: Math.max(1 / ratio, end - x - gap) };
  }

  private frame(
    context: CanvasRenderingContext2D,
    x: number,
    y: number,
    across: number,
    { colour, thick }: { readonly colour: string; readonly thick: number },
  ): void {
    const half = thick / 2;
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(x + half, y + half, Math.max(1, across - thick), LINE_PX - GAP_PX - thick);
  }

  private stripe(
    context: CanvasRenderingContext2D,
    x: number,
    y: number,
    across: number,
    theme: ChartTheme,
  ): void {
    const height = LINE_PX - GAP_PX;
    context.save();
    context.beginPath();
    context.rect(x, y, across, height);
    context.clip();
    context.strokeStyle = mixed(theme.background, theme.text, 0.32);
    context.lineWidth = 1.5;
    context.beginPath();
    for (let at = x - height; at < x + across; at += STRIPE_PX) {
      context.moveTo(at, y + height);
      context.lineTo(at + height, y);
    }
    context.stroke();
    context.restore();
  }
}
