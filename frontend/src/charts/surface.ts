/**
 * The one owner of ECharts. A surface is one chart in the page: ECharts draws the axes, and its
 * option changes only when the time axis or the value range moves (twice a second at most). The
 * lines are on a layer of their own: a frame buffer (lineLayer.ts), and on top of it the raised ones
 * (selected, pointed at) as zrender paths that read the view's arrays through a closure. So a new
 * view costs one pass over its points. Crosshair and drag area are a third layer.
 */

import { GridComponent } from "echarts/components";
import { type ECharts, graphic, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import type { SteerView } from "../model/steerView";
import type { ChartId, Hover } from "../model/viewRequest";
import type { ChartView, LineView } from "../model/views";
import { othersNote } from "./describe";
import { LineLayer } from "./lineLayer";
import { markerPath } from "./markerPath";
import { axesOption } from "./option";
import type { ChartTheme, LineStyle } from "./palette";
import { lineStyle } from "./palette";
import { MARGIN, type Plot, plotSize, timeAt, xOf } from "./plot";
import { SteerLayer } from "./steerLayer";
import "./textMeasure";
import { endOf, traceLine } from "./trace";
import { nextRange, type YRange } from "./yRange";

use([GridComponent, CanvasRenderer]);

/** Layers, each a canvas: axes are 0. */
const LINES = 1;
const POINTER = 2;

/**
 * What holds elements. zrender's own types do not fit each other under exactOptionalPropertyTypes
 * (a Path is no Element to them); a method that takes anything does.
 */
interface Holder {
  add(element: unknown): unknown;
}

/** Markers at the right edge may reach beyond it by so much. */
const MARKER_ROOM = 6;

/** Shown while the view has nothing to draw. */
const EMPTY_TOP = 1;

export class ChartSurface {
  private readonly chart: ECharts;
  private readonly lines = new graphic.Group({ silent: true });
  private readonly clip = new graphic.Rect({ shape: { x: 0, y: 0, width: 0, height: 0 } });
  private readonly gaps: InstanceType<ReturnType<typeof this.shapes>["Gaps"]>;
  private readonly crosshair = new graphic.Line({ silent: true, zlevel: POINTER, ignore: true });
  private readonly layer = new LineLayer(LINES);
  private readonly note = new graphic.Text({ silent: true, zlevel: LINES, z: 2, ignore: true });
  private readonly area = new graphic.Rect({ silent: true, zlevel: POINTER, ignore: true });
  private readonly makeLine: (
    index: number,
    marker: boolean,
  ) => InstanceType<ReturnType<typeof this.shapes>["Line"]>;
  private readonly pool: InstanceType<ReturnType<typeof this.shapes>["Line"]>[] = [];
  private readonly steering: SteerLayer;
  private view: ChartView | null = null;
  private steer: SteerView | null = null;
  private range: YRange | null = null;
  private axes = "";
  private hovered: string | null = null;
  private plotNow: Plot;

  constructor(
    container: HTMLElement,
    private readonly id: ChartId,
    private theme: ChartTheme,
    private width: number,
    private readonly height: number,
  ) {
    this.chart = init(container, null, { renderer: "canvas", width, height });
    this.plotNow = { ...MARGIN, ...plotSize(width, height), t0_s: 0, t1_s: 1, y_top: EMPTY_TOP };
    const { Line, Gaps } = this.shapes();
    this.steering = new SteerLayer(id, LINES);
    this.gaps = new Gaps({ silent: true, zlevel: LINES, z: 0, shape: {} });
    this.makeLine = (index, marker) =>
      new Line({ silent: true, zlevel: LINES, z: 2, shape: { index, marker } });
    this.lines.setClipPath(this.clip);
    const held: Holder = this.lines;
    held.add(this.gaps);
    this.steering.group.setClipPath(this.clip);
    const zr: Holder = this.chart.getZr();
    const { group } = this.steering;
    for (const element of [
      group,
      this.layer.image,
      this.lines,
      this.note,
      this.crosshair,
      this.area,
    ])
      zr.add(element);
    this.dress();
  }

  /** Where values stand now. */
  get plot(): Plot {
    return this.plotNow;
  }

  /** Draw another view; null: an empty chart. */
  draw(view: ChartView | null, clock_ms: number): void {
    this.view = view;
    const ok = view !== null && view.state === "ok";
    if (ok) this.range = nextRange(this.range, view.y_max, view.unit, clock_ms);
    this.plotNow = {
      ...MARGIN,
      ...plotSize(this.width, this.height),
      t0_s: view?.t0_s ?? 0,
      t1_s: view?.t1_s ?? 1,
      // Shares of a whole reach up to it.
      y_top: ok && !view.times ? (this.range?.top ?? EMPTY_TOP) : EMPTY_TOP,
    };
    this.layAxes();
    this.laySteering();
    this.layLines();
  }

  /** What steers the target, and since when. */
  showSteering(steer: SteerView | null): void {
    this.steer = steer;
    this.laySteering();
  }

  private laySteering(): void {
    this.steering.lay(this.steer, this.plotNow, this.theme);
  }

  /** The shared pointer moved. */
  point(hover: Hover): void {
    const { plotNow, crosshair } = this;
    const t_s = hover.t_s;
    const ignore = t_s === null || t_s < plotNow.t0_s || t_s > plotNow.t1_s;
    if (!ignore) {
      // On a whole pixel, or it would be a blurred line of two.
      const x = Math.round(xOf(plotNow, t_s)) + 0.5;
      const shape = { x1: x, x2: x, y1: plotNow.top, y2: plotNow.top + plotNow.height };
      crosshair.attr({ ignore, shape });
    } else if (!crosshair.ignore) {
      crosshair.attr({ ignore });
    }
    if (hover.key !== this.hovered) {
      this.hovered = hover.key;
      this.layLines();
    }
  }

  /** Show the stretch that is being dragged over, in pixels; null: none. */
  showArea(stretch: readonly [number, number] | null): void {
    if (!stretch) {
      if (!this.area.ignore) this.area.attr({ ignore: true });
      return;
    }
    const { top, height } = this.plotNow;
    const x = Math.min(...stretch);
    const width = Math.abs(stretch[1] - stretch[0]);
    this.area.attr({ ignore: false, shape: { x, y: top, width, height } });
  }

  setTheme(theme: ChartTheme): void {
    this.theme = theme;
    this.axes = "";
    this.dress();
    if (this.view) this.layAxes();
    this.laySteering();
    this.layLines();
  }

  resize(width: number): void {
    if (width === this.width) return;
    this.width = width;
    this.axes = "";
    this.chart.resize({ width, height: this.height });
  }

  dispose(): void {
    this.chart.dispose();
  }

  /** Pixel of a time and value by ECharts' own axes; tests compare it with `plot`. */
  pixelOf(t_s: number, value: number): number[] {
    const unix_ms = (this.view?.attached_unix_ms ?? 0) + 1000 * t_s;
    return this.chart.convertToPixel("grid", [unix_ms, value]);
  }

  /**
   * Shapes that draw what this surface holds. Arrays must not be put into a zrender shape: it copies
   * what is in there.
   */
  private shapes() {
    const surface = this;
    const Line = graphic.extendShape({
      type: "tidscope-line",
      shape: { index: -1, marker: false },
      buildPath(pen, { index, marker }) {
        const { view, plotNow } = surface;
        if (!view || index < 0 || index >= view.lines.length) return;
        if (!marker) {
          traceLine(pen, view, index, plotNow);
          return;
        }
        const end = endOf(view, index, plotNow);
        const line = view.lines[index];
        if (end && line) markerPath(pen, lineStyle(line, surface.id, surface.theme).marker, end);
      },
    });
    const Gaps = graphic.extendShape({
      type: "tidscope-gaps",
      shape: {},
      buildPath(pen) {
        const { view, plotNow } = surface;
        for (const [from, to] of view?.gaps ?? []) {
          const x = xOf(plotNow, from);
          pen.rect(x, plotNow.top, xOf(plotNow, to) - x, plotNow.height);
        }
      },
    });
    return { Line, Gaps };
  }

  private dress(): void {
    const { theme } = this;
    this.steering.dress(theme);
    this.gaps.setStyle({ fill: theme.muted, opacity: 0.15 });
    this.crosshair.setStyle({ stroke: theme.crosshair, lineWidth: 1, lineDash: [3, 3] });
    this.area.setStyle({ fill: theme.crosshair, opacity: 0.18 });
    this.note.attr({ ignore: true });
  }

  private layAxes(): void {
    const { plotNow, theme, view } = this;
    const { left, top, width, height, t0_s, t1_s, y_top } = plotNow;
    this.clip.setShape({ x: left, y: top, width: width + MARKER_ROOM, height });
    if (!view) return;
    const { attached_unix_ms, unit } = view;
    const values = view.state === "ok";
    const axes = [t0_s, t1_s, y_top, width, attached_unix_ms, unit, values].join();
    if (axes === this.axes) return;
    this.axes = axes;
    this.chart.setOption(
      axesOption({ t0_s, t1_s, y_top, attached_unix_ms, unit, theme, width, values }),
      {
        silent: true,
      },
    );
  }

  private layLines(): void {
    const { view, pool, gaps } = this;
    gaps.dirtyShape();
    const held: Holder = this.lines;
    const lines = view?.state === "ok" ? view.lines : [];
    // Two elements a line: the line, and the marker at its end.
    while (pool.length < 2 * lines.length) {
      const index = pool.length / 2;
      for (const marker of [false, true]) {
        const element = this.makeLine(index, marker);
        pool.push(element);
        held.add(element);
      }
    }
    this.layNote();
    const raised = (line: LineView): boolean =>
      line.key !== null && (line.selected || line.key === this.hovered);
    if (view && lines.length > 0) this.layer.draw(view, this.plotNow, this.theme, raised);
    else this.layer.hide();
    const fade = lines.some(raised);
    for (const [i, element] of pool.entries()) {
      const line = lines[i >> 1];
      const marker = i % 2 === 1;
      const style = line && lineStyle(line, this.id, this.theme);
      if (!line || !style || (marker ? style.marker === "none" : !raised(line))) {
        if (!element.ignore) element.attr({ ignore: true });
        continue;
      }
      dressLine(element, style, marker, raised(line), fade);
    }
  }

  /** Say where "others" are when they are above the plot. */
  private layNote(): void {
    const { view, note, plotNow, theme } = this;
    if (view?.state !== "ok" || !view.others_above) {
      if (!note.ignore) note.attr({ ignore: true });
      return;
    }
    const text = othersNote(view);
    const x = plotNow.left + plotNow.width - 4;
    if (note.ignore || note.style.text !== text || note.x !== x) {
      note.attr({ ignore: false, x, y: plotNow.top + 2 });
      note.setStyle({
        text,
        align: "right",
        fill: theme.muted,
        font: `11px ${theme.font}`,
        backgroundColor: theme.background,
        padding: [1, 3],
      });
    }
  }

  /** Time under a pixel. */
  timeAt(x: number): number {
    return timeAt(this.plotNow, x);
  }
}

/** What is set of an element; kept on this side, so that nothing is set twice. */
const dressed = new WeakMap<object, string>();

interface Element {
  ignore: boolean;
  attr(props: { ignore?: boolean }): unknown;
  setStyle(style: Record<string, unknown>): unknown;
  dirtyShape(): void;
}

function dressLine(
  element: Element,
  { colour, dash, width }: LineStyle,
  marker: boolean,
  raised: boolean,
  fade: boolean,
): void {
  const opacity = fade && !raised ? 0.35 : 1;
  const key = [colour, dash, width, opacity].join();
  if (dressed.get(element) !== key) {
    dressed.set(element, key);
    element.setStyle(
      marker
        ? { fill: colour, stroke: null, opacity }
        : {
            fill: null,
            stroke: colour,
            lineWidth: Math.max(2.5, width),
            lineDash: dash.length > 0 ? [...dash] : null,
            // Round joins would be an arc at each sample.
            lineJoin: "bevel",
          },
    );
  }
  if (element.ignore) element.attr({ ignore: false });
  element.dirtyShape();
}
