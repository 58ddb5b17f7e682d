/**
 * One chart in the page, on three canvases. Axes and the background are redrawn when the time axis
 * or the value range moves, twice a second at most. Lines are redrawn with each view: the buffer of
 * lineLayer.ts, and above it the highlighted lines. Crosshair and drag area have the third.
 * Unchanged content is not redrawn, and no timer triggers drawing.
 *
 * Path of one line from a view's arrays.
 */

import type { SteerView } from "../stream/steerView";
import type { ChartId, Hover } from "../stream/viewRequest";
import type { ChartView, LineView } from "../stream/views";
import { type Span, sameSpan } from "../stream/window";
import {
  drawTimeAxis,
  drawValueAxis,
  follows,
  nextRange,
  timeTicks,
  valueTicks,
  type YRange,
} from "./axes";
import { CanvasLayer, labelOn } from "./canvasLayer";
import { othersNote } from "./describe";
import { drawBandNames, drawLimits } from "./endLabels";
import { LineLayer } from "./lineLayer";
import { markerPath } from "./Marker";
import { type ChartTheme, lineStyle } from "./palette";
import { MARGIN, type PixelGrid, type Plot, pixelGrid, plotSize, timeAt, xOf, yOf } from "./plot";
import { drawSteerBands, drawSteerMarks } from "./steerMarks";
import { drawPeaks } from "./tooltip";

/** Operations used of a path under construction. */
interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/**
 * Draw a line through the samples, or through lowest and highest value of each pixel column.
 * Missing values are gaps; a value between two gaps becomes a short dash.
 * @param index Index of the line in the view.
 */
export function traceLine(pen: Pen, view: ChartView, index: number, plot: Plot): void {
  const { columns, time_s, low, high, step } = view;
  const base = index * columns;
  const scale = plot.width / (plot.t1_s - plot.t0_s);
  const shift = plot.left - plot.t0_s * scale;
  const down = plot.height / plot.y_top;
  const foot = plot.top + plot.height;
  let open = false;
  let lone = false;
  let x = 0;
  let y = 0;
  for (let c = 0; c < columns; c++) {
    const bottom = low[base + c] ?? Number.NaN;
    if (Number.isNaN(bottom)) {
      if (lone) pen.lineTo(x + 1, y);
      open = false;
      lone = false;
      continue;
    }
    const top = high[base + c] ?? bottom;
    x = (time_s[c] ?? 0) * scale + shift;
    const yBottom = foot - bottom * down;
    const yTop = foot - top * down;
    lone = false;
    if (!open) {
      pen.moveTo(x, yBottom);
      open = true;
      lone = yTop === yBottom;
      y = yBottom;
    } else if (step) {
      pen.lineTo(x, y);
      pen.lineTo(x, yBottom);
      y = yBottom;
    } else if (Math.abs(y - yTop) < Math.abs(y - yBottom)) {
      // The end nearer to the line's current position comes first: no needless strokes.
      pen.lineTo(x, yTop);
      pen.lineTo(x, yBottom);
      y = yBottom;
      continue;
    } else {
      pen.lineTo(x, yBottom);
      y = yBottom;
    }
    if (yTop !== yBottom) {
      pen.lineTo(x, yTop);
      y = yTop;
    }
  }
  if (lone) pen.lineTo(x + 1, y);
}

/** End of a line: its last value within the plot; null if none. */
export function endOf(view: ChartView, index: number, plot: Plot): [number, number] | null {
  const { columns, time_s, high } = view;
  for (let c = columns - 1; c >= 0; c--) {
    const value = high[index * columns + c] ?? Number.NaN;
    const t_s = time_s[c] ?? 0;
    if (t_s < plot.t0_s) return null;
    if (!Number.isNaN(value) && t_s <= plot.t1_s) return [xOf(plot, t_s), yOf(plot, value)];
  }
  return null;
}

/** Room for markers beyond the right edge, in pixels. */
const MARKER_ROOM = 6;
const FADED = 0.35;
const RAISED_PX = 2.5;

/** Top of the axis while the view is empty. */
const EMPTY_TOP = 1;
const NO_SPAN: Span = { t0_s: 0, t1_s: 1 };

export class ChartSurface {
  private readonly back: CanvasLayer;
  private readonly front: CanvasLayer;
  private readonly pointer: CanvasLayer;
  private readonly lines = new LineLayer();
  private view: ChartView | null = null;
  private steer: SteerView | null = null;
  private range: YRange | null = null;
  private axes = "";
  private pointed = "";
  private hover: Hover = { t_s: null, key: null, chart: null };
  private stretch: readonly [number, number] | null = null;
  private grid: PixelGrid = { per_s: 1, first: 0 };
  private plotNow: Plot;
  private spanNow: Span = NO_SPAN;
  private named = true;

  constructor(
    container: HTMLElement,
    private readonly id: ChartId,
    private theme: ChartTheme,
    private width: number,
    private readonly height: number,
  ) {
    this.back = new CanvasLayer(container);
    this.front = new CanvasLayer(container);
    this.pointer = new CanvasLayer(container);
    this.plotNow = { ...MARGIN, ...plotSize(width, height), t0_s: 0, t1_s: 1, y_top: EMPTY_TOP };
    this.fit();
  }

  /** The current plot geometry. */
  get plot(): Plot {
    return this.plotNow;
  }

  /**
   * Draw another view; null for an empty chart.
   * @param axis Ends of the time axis of all charts; null: those of the view.
   * @param named Whether bands show their names.
   */
  draw(view: ChartView | null, clock_ms: number, axis: Span | null = null, named = true): void {
    const ok = view !== null && view.state === "ok";
    if (ok) {
      const range = follows(this.view, view) ? this.range : null;
      this.range = nextRange(range, view.y_max, view.unit, clock_ms);
    }
    this.view = view;
    this.fit();
    const size = plotSize(this.width, this.height);
    const span: Span = axis ?? view ?? NO_SPAN;
    this.spanNow = { t0_s: span.t0_s, t1_s: span.t1_s };
    this.named = named;
    this.grid = pixelGrid(span, Math.round(size.width * this.front.ratio));
    const t0_s = this.grid.first / this.grid.per_s;
    this.plotNow = {
      ...MARGIN,
      ...size,
      t0_s,
      t1_s: t0_s + span.t1_s - span.t0_s,
      // Shares of a whole use the full height.
      y_top: ok && !view.times ? (this.range?.top ?? EMPTY_TOP) : EMPTY_TOP,
    };
    this.drawAxes();
    this.drawLines();
  }

  /** Whether this span was the last one drawn. */
  spans(axis: Span | null): boolean {
    return axis === null || sameSpan(axis, this.spanNow);
  }

  /** Set the steering policy and its start. */
  showSteering(steer: SteerView | null): void {
    if (steer === this.steer) return;
    this.steer = steer;
    this.axes = "";
    this.drawAxes();
    this.drawLines();
  }

  /** Move the shared pointer. */
  point(hover: Hover): void {
    const raised = hover.key !== this.hover.key;
    this.hover = hover;
    this.drawPointer();
    if (raised) this.drawLines();
  }

  /** Show the span being dragged, in pixels; null for none. */
  showArea(stretch: readonly [number, number] | null): void {
    this.stretch = stretch;
    this.drawPointer();
  }

  setTheme(theme: ChartTheme): void {
    if (theme === this.theme) return;
    this.theme = theme;
    this.axes = "";
    this.pointed = "";
    this.drawAxes();
    this.drawLines();
    this.drawPointer();
  }

  /** Set the width; takes effect with the next drawing. */
  resize(width: number): void {
    this.width = width;
  }

  dispose(): void {
    for (const layer of [this.back, this.front, this.pointer]) layer.remove();
  }

  /** Time under a pixel. */
  timeAt(x: number): number {
    return timeAt(this.plotNow, x);
  }

  private fit(): void {
    if (this.back.fit(this.width, this.height)) this.axes = "";
    this.front.fit(this.width, this.height);
    if (this.pointer.fit(this.width, this.height)) this.pointed = "";
  }

  private drawAxes(): void {
    const { back, plotNow, theme, view, steer } = this;
    const { context } = back;
    if (!view || !context) return;
    const { attached_unix_ms, unit, gaps } = view;
    const values = view.state === "ok";
    const { t0_s, t1_s, y_top } = plotNow;
    const axes = [t0_s, t1_s, y_top, attached_unix_ms, unit, values, ...gaps.flat()].join();
    if (axes === this.axes) return;
    this.axes = axes;
    back.clear();
    drawValueAxis(context, plotNow, valueTicks(plotNow, unit), theme, values);
    drawTimeAxis(context, plotNow, timeTicks(plotNow, attached_unix_ms), theme);
    context.save();
    clipTo(context, plotNow, 0);
    drawSteerBands(context, this.id, steer, plotNow, theme);
    context.globalAlpha = 0.15;
    context.fillStyle = theme.muted;
    for (const [from, to] of gaps) {
      const x = xOf(plotNow, from);
      context.fillRect(x, plotNow.top, xOf(plotNow, to) - x, plotNow.height);
    }
    context.restore();
  }

  private drawLines(): void {
    const { front, view, plotNow, theme, steer } = this;
    const { context } = front;
    if (!context) return;
    front.clear();
    if (view) {
      context.save();
      clipTo(context, plotNow, MARKER_ROOM);
      if (view.state === "ok") this.drawData(context, view);
      drawSteerMarks(context, this.id, steer, plotNow, theme);
      context.restore();
    }
    if (view?.state === "ok" && view.others_above) this.drawNote(context, view);
  }

  private drawData(context: CanvasRenderingContext2D, view: ChartView): void {
    const { plotNow, theme, grid } = this;
    const raised = (line: LineView): boolean =>
      line.key !== null && (line.selected || line.key === this.hover.key);
    const faded = view.lines.some(raised);
    this.lines.draw(context, view, plotNow, grid, this.front.ratio, theme, raised, faded);
    drawLimits(context, view, plotNow, theme);
    if (view.stacked) {
      if (this.named) drawBandNames(context, view, plotNow, theme);
      return;
    }
    drawPeaks(context, view, plotNow, theme, (line) => !faded || raised(line));
    // Highest rank last, so that it lies on top.
    for (let index = view.lines.length - 1; index >= 0; index--) {
      const line = view.lines[index];
      if (!line) continue;
      const { colour, dash, width, marker, fill } = lineStyle(line, this.id, theme);
      if (fill !== undefined) continue;
      const up = raised(line);
      if (up) {
        context.strokeStyle = colour;
        context.lineWidth = Math.max(RAISED_PX, width);
        context.setLineDash(dash);
        // Round joins would draw an arc at each sample.
        context.lineJoin = "bevel";
        context.beginPath();
        traceLine(context, view, index, plotNow);
        context.stroke();
        context.setLineDash([]);
      }
      const end = marker === "none" ? null : endOf(view, index, plotNow);
      if (!end) continue;
      context.globalAlpha = faded && !up ? FADED : 1;
      context.fillStyle = colour;
      context.beginPath();
      markerPath(context, marker, end);
      context.fill();
      context.globalAlpha = 1;
    }
  }

  /** Draw the note for "others" above the plot. */
  private drawNote(context: CanvasRenderingContext2D, view: ChartView): void {
    const { plotNow, theme } = this;
    const style = { font: `11px ${theme.font}`, fill: theme.muted, background: theme.background };
    const right = plotNow.left + plotNow.width - 1;
    labelOn(context, othersNote(view), right, plotNow.top + 1, style, "right");
  }

  private drawPointer(): void {
    const { pointer, plotNow, theme, stretch } = this;
    const { context } = pointer;
    const { t_s } = this.hover;
    const { left, top, height, t0_s, t1_s } = plotNow;
    const seen = t_s !== null && t_s >= t0_s && t_s <= t1_s;
    // Aligned to a whole pixel; otherwise the line would blur over two.
    const x = seen ? Math.round(xOf(plotNow, t_s)) + 0.5 : Number.NaN;
    const pointed = [x, ...(stretch ?? [])].join();
    if (pointed === this.pointed || !context) return;
    this.pointed = pointed;
    pointer.show(seen || stretch !== null);
    pointer.clear();
    if (stretch) {
      const from = Math.max(left, Math.min(...stretch));
      context.globalAlpha = 0.18;
      context.fillStyle = theme.crosshair;
      context.fillRect(from, top, Math.abs(stretch[1] - stretch[0]), height);
      context.globalAlpha = 1;
    }
    if (seen) drawCrosshair(context, x, top, top + height, theme);
  }
}

/** Draw a dashed vertical line from top to bottom. */
export function drawCrosshair(
  context: CanvasRenderingContext2D,
  x: number,
  top: number,
  foot: number,
  theme: ChartTheme,
): void {
  context.strokeStyle = theme.crosshair;
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(x, top);
  context.lineTo(x, foot);
  context.stroke();
  context.setLineDash([]);
}

/** Clip to a plot and some pixels to its right, until the context is restored. */
function clipTo(context: CanvasRenderingContext2D, plot: Plot, right_px: number): void {
  context.beginPath();
  context.rect(plot.left, plot.top, plot.width + right_px, plot.height);
  context.clip();
}
