/**
 * The thread map on the page, on three canvases. Time axis and role names, which seldom change. The
 * ring of cells (mapCanvas.ts) in order, with births and exits above. Pointer and steering marks.
 */

import { drawTimeAxis, nextRange, timeTicks, type YRange } from "../../chart/axes";
import { CanvasLayer } from "../../chart/canvasLayer";
import type { ChartTheme } from "../../chart/palette";
import { timeAt, xOf } from "../../chart/plot";
import type { MapScale } from "../../chart/stateColours";
import { drawSteerMarks } from "../../chart/steerMarks";
import { drawCrosshair } from "../../chart/surface";
import { foldOf, rowAt, threadsOf } from "../../stream/mapLayout";
import {
  keyAt,
  type MapPicture,
  peakInSight,
  placeAt,
  placeOf,
  ringPlace,
} from "../../stream/mapPicture";
import type { SteerView } from "../../stream/steerView";
import type { Hover } from "../../stream/viewRequest";
import { type Span, sameSpan } from "../../stream/window";
import { drawMapNames, MapCanvas } from "./mapCanvas";
import { type MapPlot, mapPlot, rowBox, rowUnder, STRIP_PX } from "./mapPlot";
import { columnAtTime } from "./mapText";

/** Minimum row height for separator lines between roles, in CSS pixels. */
const SEPARATED_PX = 5;

export class MapSurface {
  private readonly back: CanvasLayer;
  private readonly front: CanvasLayer;
  private readonly pointer: CanvasLayer;
  private readonly cells = new MapCanvas();
  private steer: SteerView | null = null;
  private picture: MapPicture | null = null;
  private attached_unix_ms: number | null = null;
  private hover: Hover = { t_s: null, key: null, chart: null };
  private selected: string | null = null;
  private stretch: readonly [number, number] | null = null;
  private range: YRange | null = null;
  private unit = "";
  private axes = "";
  private pointed = "";
  private plotNow: MapPlot;

  constructor(
    container: HTMLElement,
    private theme: ChartTheme,
    private size: { readonly width: number; readonly height: number },
  ) {
    this.back = new CanvasLayer(container);
    this.front = new CanvasLayer(container);
    this.pointer = new CanvasLayer(container);
    this.plotNow = mapPlot(size, null, 0, window.devicePixelRatio);
  }

  get plot(): MapPlot {
    return this.plotNow;
  }

  /** Whether this span was the last one drawn. */
  spans(axis: Span | null): boolean {
    return axis === null || sameSpan(axis, this.plotNow);
  }

  /** The colour scale in effect. */
  scale(log: boolean): MapScale {
    return { top: this.range?.top ?? 1, log };
  }

  /**
   * Draw a picture; null for an empty map.
   * @param axis Ends of the time axis of all charts; null: those of the picture.
   */
  draw(picture: MapPicture | null, log: boolean, clock_ms: number, axis: Span | null = null): void {
    const ok = picture?.view.state === "ok";
    this.picture = ok ? picture : null;
    const view = picture?.view ?? null;
    this.attached_unix_ms = view?.attached_unix_ms ?? null;
    const rows = ok ? picture.layout.rows : 0;
    this.plotNow = mapPlot(this.size, axis ?? view, rows, window.devicePixelRatio);
    this.fit();
    if (ok) {
      const { unit, field, mix } = picture.view;
      const what = [unit, field, mix].join();
      if (what !== this.unit) this.range = null;
      this.unit = what;
      this.range = nextRange(this.range, peakInSight(picture), unit, clock_ms);
      this.cells.paint(picture, this.plotNow, this.scale(log), this.theme);
    }
    this.drawAxes();
    this.drawCells();
    this.drawPointer();
  }

  /** Move the shared pointer, or change the selected thread. */
  point(hover: Hover, selected: string | null): void {
    this.hover = hover;
    this.selected = selected;
    this.drawPointer();
  }

  /** Set the steering policy and its start. */
  showSteering(steer: SteerView | null): void {
    if (steer === this.steer) return;
    this.steer = steer;
    this.pointed = "";
    this.drawPointer();
  }

  /** Thread under a pixel: the highest one of a shared row. */
  keyAt(x: number, y: number): string | null {
    const { picture, plotNow } = this;
    const row = rowUnder(plotNow, y);
    if (!picture || row < 0 || threadsOf(picture.layout, row) === 0) return null;
    const column = columnAtTime(picture, timeAt(plotNow, x));
    return keyAt(picture.layout, placeAt(picture, column, row));
  }

  /** Folding key of the stack at a pixel; null if none. */
  foldAt(x: number, y: number): string | null {
    const { picture, plotNow } = this;
    const row = rowUnder(plotNow, y);
    if (!picture || row < 0 || x >= plotNow.left) return null;
    return foldOf(picture.layout, row);
  }

  timeAt(x: number): number {
    return timeAt(this.plotNow, x);
  }

  /** Show the span being dragged, in pixels; null for none. */
  showArea(stretch: readonly [number, number] | null): void {
    this.stretch = stretch;
    this.drawPointer();
  }

  /** Set the theme; takes effect with the next drawing. */
  setTheme(theme: ChartTheme): void {
    if (theme === this.theme) return;
    this.theme = theme;
    this.axes = "";
    this.pointed = "";
  }

  /** Set the size; takes effect with the next drawing. */
  resize(size: { readonly width: number; readonly height: number }): void {
    this.size = size;
  }

  dispose(): void {
    for (const layer of [this.back, this.front, this.pointer]) layer.remove();
  }

  private fit(): void {
    const { width, height } = this.size;
    if (this.back.fit(width, height)) this.axes = "";
    this.front.fit(width, height);
    if (this.pointer.fit(width, height)) this.pointed = "";
  }

  private drawAxes(): void {
    const { back, plotNow, theme, picture, attached_unix_ms } = this;
    const { context } = back;
    if (!context) return;
    const { t0_s, t1_s, edges } = plotNow;
    const rows = edges[edges.length - 1] ?? 0;
    const axes = [t0_s, t1_s, attached_unix_ms, picture?.layouts ?? -1, rows].join();
    if (axes === this.axes) return;
    this.axes = axes;
    back.clear();
    if (attached_unix_ms !== null) {
      drawTimeAxis(context, plotNow, timeTicks(plotNow, attached_unix_ms), theme);
    }
    if (picture) drawMapNames(context, picture.layout, plotNow, theme);
  }

  private drawCells(): void {
    const { front, picture, plotNow, theme } = this;
    const { context } = front;
    if (!context) return;
    front.clear();
    if (!picture) return;
    const { left, top, width, height } = plotNow;
    context.save();
    context.beginPath();
    context.rect(left, top - STRIP_PX - 1, width, height + STRIP_PX + 1);
    context.clip();
    this.drawRing(context, picture);
    context.globalAlpha = 0.35;
    context.fillStyle = theme.muted;
    for (const [from, to] of picture.view.gaps) {
      const x = xOf(plotNow, from);
      context.fillRect(x, top, xOf(plotNow, to) - x, height);
    }
    context.globalAlpha = 1;
    context.fillStyle = theme.background;
    for (const group of picture.layout.groups.slice(1)) {
      const box = rowBox(plotNow, group.row, group.rows);
      if (box.height >= SEPARATED_PX) context.fillRect(left, Math.round(box.y), width, 1);
    }
    this.drawTurnover(context, picture, "born", theme.written);
    this.drawTurnover(context, picture, "exited", theme.read);
    context.restore();
  }

  /** Draw the ring in order: its end, then its beginning. */
  private drawRing(context: CanvasRenderingContext2D, picture: MapPicture): void {
    const { plotNow } = this;
    const { canvas } = this.cells;
    const { ratio, left, top, edges } = plotNow;
    const { view, to } = picture;
    const { t0_s, t1_s, width } = plotNow;
    const first = Math.max(picture.from, Math.floor(t0_s / view.bin_s));
    // Columns are whole pixels wide unless computed for an axis of another length.
    const made = Math.abs(t1_s - t0_s - (view.t1_s - view.t0_s)) < 1e-6;
    const cell = made ? view.bin_px : (view.bin_s * width) / (t1_s - t0_s);
    const wrap = first - ringPlace(first, view.capacity) + view.capacity;
    const across = view.bin_px * ratio;
    const high = edges[edges.length - 1] ?? 0;
    if (high === 0) return;
    context.imageSmoothingEnabled = false;
    for (const [from, end] of [
      [first, Math.min(to, wrap)],
      [wrap, to],
    ] as const) {
      if (end <= from) continue;
      const x = left + Math.round(((from * view.bin_s - t0_s) / view.bin_s) * cell);
      context.drawImage(
        canvas,
        ...[ringPlace(from, view.capacity) * across, 0, (end - from) * across, high],
        ...[x, top, (end - from) * cell, high / ratio],
      );
    }
  }

  /** Ticks above the cells: up for births, down for exits; the length shows their number. */
  private drawTurnover(
    context: CanvasRenderingContext2D,
    picture: MapPicture,
    kind: "born" | "exited",
    colour: string,
  ): void {
    const { plotNow } = this;
    const { view, from, to } = picture;
    const counts = picture[kind];
    const middle = plotNow.top - STRIP_PX / 2 - 1;
    context.fillStyle = colour;
    for (let k = Math.max(from, Math.floor(plotNow.t0_s / view.bin_s)); k < to; k++) {
      const count = counts[ringPlace(k, view.capacity)] ?? 0;
      if (count === 0) continue;
      const x = Math.round(xOf(plotNow, k * view.bin_s));
      const height = Math.min(STRIP_PX / 2 - 1, 2 + 2 * Math.log2(1 + count));
      const y = kind === "born" ? middle - height : middle + 1;
      context.fillRect(x, y, Math.max(2, view.bin_px), height);
    }
  }

  private drawPointer(): void {
    const { pointer, picture, plotNow, theme, hover, selected, stretch, steer } = this;
    const { context } = pointer;
    if (!context) return;
    const { t0_s, t1_s } = plotNow;
    const { t_s, key } = hover;
    const layouts = picture?.layouts ?? -1;
    const pointed = [t_s, key, selected, t0_s, t1_s, layouts, ...(stretch ?? [])].join();
    if (pointed === this.pointed) return;
    this.pointed = pointed;
    pointer.clear();
    drawMapPointer(context, picture, plotNow, { hover, selected, stretch }, theme);
    const { left, top, width, height } = plotNow;
    context.save();
    context.beginPath();
    context.rect(left, top - STRIP_PX - 1, width, height + STRIP_PX + 1);
    context.clip();
    drawSteerMarks(context, "map", steer, plotNow, theme, STRIP_PX);
    context.restore();
  }
}

/** Item under the pointer. */
interface MapPoint {
  readonly hover: Hover;
  readonly selected: string | null;
  /** Dragged span in pixels; null for none. */
  readonly stretch: readonly [number, number] | null;
}

/** Draw crosshair, frames and dragged span. */
function drawMapPointer(
  context: CanvasRenderingContext2D,
  picture: MapPicture | null,
  plot: MapPlot,
  { hover, selected, stretch }: MapPoint,
  theme: ChartTheme,
): void {
  const { t_s, key } = hover;
  const { top, height } = plot;
  if (stretch) {
    context.globalAlpha = 0.3;
    context.fillStyle = theme.crosshair;
    context.fillRect(Math.min(...stretch), top, Math.abs(stretch[1] - stretch[0]), height);
    context.globalAlpha = 1;
  }
  if (t_s !== null && t_s >= plot.t0_s && t_s <= plot.t1_s) {
    const x = Math.round(xOf(plot, t_s)) + 0.5;
    drawCrosshair(context, x, top - STRIP_PX, top + height, theme);
  }
  context.strokeStyle = theme.text;
  if (picture && selected !== null) {
    context.lineWidth = 2;
    strokeRow(context, picture, plot, selected);
  }
  if (picture && key !== null && key !== selected) {
    context.lineWidth = 1;
    context.setLineDash([2, 2]);
    strokeRow(context, picture, plot, key);
    context.setLineDash([]);
  }
}

/** Draw a frame around a thread's row. */
function strokeRow(
  context: CanvasRenderingContext2D,
  picture: MapPicture,
  plot: MapPlot,
  key: string,
): void {
  const place = placeOf(picture.layout, key);
  if (place < 0) return;
  const { y, height } = rowBox(plot, rowAt(picture.layout, place));
  // The frame must not hide a row of one pixel.
  const room = Math.max(1.5, (5 - height) / 2);
  const { left, width } = plot;
  context.strokeRect(left - 1.5, y - room, width + 3, height + 2 * room);
}
