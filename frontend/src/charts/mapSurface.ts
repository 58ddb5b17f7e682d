/**
 * The thread map on the page: ECharts draws the time axis, two zrender images show the ring of cells
 * (mapCanvas.ts), and names of roles (mapNames.ts) stand on the axes' layer, which changes seldom.
 * Highlights and crosshair are a third layer (mapPointer.ts).
 */

import { GridComponent } from "echarts/components";
import { type ECharts, graphic, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { keyAt, type MapPicture, peakInSight, placeAt, ringPlace } from "../model/mapPicture";
import type { SteerView } from "../model/steerView";
import type { Hover } from "../model/viewRequest";
import { MapCanvas } from "./mapCanvas";
import type { MapScale } from "./mapColours";
import { MapNames } from "./mapNames";
import { type MapPlot, mapPlot, rowBox, rowUnder, STRIP_PX } from "./mapPlot";
import { MapPointer } from "./mapPointer";
import { columnAtTime } from "./mapText";
import { axesOption } from "./option";
import type { ChartTheme } from "./palette";
import { timeAt, xOf } from "./plot";
import { SteerLayer } from "./steerLayer";
import { nextRange, type YRange } from "./yRange";

use([GridComponent, CanvasRenderer]);

const CELLS = 1;
const POINTER = 2;
/** Lines between roles only where they leave most of the cells to be seen. */
const SEPARATED_PX = 5;

/** What is used of a path under construction. */
interface RectPen {
  rect(x: number, y: number, width: number, height: number): unknown;
}

/** See `Holder` in surface.ts. */
interface Holder {
  add(element: unknown): unknown;
}

export class MapSurface {
  private readonly chart: ECharts;
  private readonly cells = new MapCanvas();
  private readonly clip = new graphic.Rect({ shape: { x: 0, y: 0, width: 0, height: 0 } });
  private readonly images = [0, 1].map(
    () => new graphic.Image({ silent: true, zlevel: CELLS, z: 1, ignore: true, style: {} }),
  );
  private readonly lines = this.path((pen) => this.traceSeparators(pen));
  private readonly gaps = this.path((pen) => this.traceGaps(pen));
  private readonly births = this.path((pen) => this.traceTurnover(pen, "born"));
  private readonly exits = this.path((pen) => this.traceTurnover(pen, "exited"));
  private readonly names = new MapNames();
  private readonly pointer = new MapPointer(POINTER);
  /** In the strip above the cells marks are seen whatever the cells' colour. */
  private readonly steering = new SteerLayer("map", POINTER, STRIP_PX);
  private steer: SteerView | null = null;
  private picture: MapPicture | null = null;
  private range: YRange | null = null;
  private unit = "";
  private axes = "";
  private plotNow: MapPlot;

  constructor(
    container: HTMLElement,
    private theme: ChartTheme,
    private size: { readonly width: number; readonly height: number },
  ) {
    this.chart = init(container, null, { renderer: "canvas", ...size });
    // Between two updates nothing is animated: a browser at rest draws what is new at once.
    this.chart.getZr().setSleepAfterStill(1);
    this.plotNow = mapPlot(size, null, 0, window.devicePixelRatio);
    const inside = new graphic.Group({ silent: true });
    inside.setClipPath(this.clip);
    const held: Holder = inside;
    for (const element of [...this.images, this.gaps, this.lines, this.births, this.exits]) {
      held.add(element);
    }
    this.steering.group.setClipPath(this.clip);
    const zr: Holder = this.chart.getZr();
    for (const group of [inside, this.names.group, this.pointer.group, this.steering.group]) {
      zr.add(group);
    }
    this.dress();
  }

  get plot(): MapPlot {
    return this.plotNow;
  }

  /** The colour scale in effect. */
  scale(log: boolean): MapScale {
    return { top: this.range?.top ?? 1, log };
  }

  /** Draw a picture; null: an empty map. */
  draw(picture: MapPicture | null, log: boolean, clock_ms: number): void {
    const ok = picture?.view.state === "ok";
    this.picture = ok ? picture : null;
    const view = picture?.view ?? null;
    const rows = ok ? picture.layout.rows : 0;
    this.plotNow = mapPlot(this.size, view, rows, window.devicePixelRatio);
    if (ok) {
      const { unit, field, mix } = picture.view;
      const what = [unit, field, mix].join();
      if (what !== this.unit) this.range = null;
      this.unit = what;
      this.range = nextRange(this.range, peakInSight(picture), unit, clock_ms);
      this.cells.paint(picture, this.plotNow, this.scale(log), this.theme);
    }
    this.layAxes(picture);
    this.names.lay(this.picture, this.plotNow, this.theme);
    this.layImages();
    this.laySteering();
    for (const path of [this.lines, this.gaps, this.births, this.exits]) path.dirtyShape();
  }

  /** The shared pointer moved, or another thread is selected. */
  point(hover: Hover, selected: string | null): void {
    this.pointer.point(this.picture, this.plotNow, hover, selected);
  }

  /** What steers the target, and since when. */
  showSteering(steer: SteerView | null): void {
    this.steer = steer;
    this.laySteering();
  }

  private laySteering(): void {
    this.steering.lay(this.steer, this.plotNow, this.theme);
  }

  /** Thread under a pixel: the highest where several share the row. */
  keyAt(x: number, y: number): string | null {
    const { picture, plotNow } = this;
    const row = rowUnder(plotNow, y);
    if (!picture || row < 0) return null;
    const column = columnAtTime(picture, timeAt(plotNow, x));
    return keyAt(picture.layout, placeAt(picture, column, row));
  }

  timeAt(x: number): number {
    return timeAt(this.plotNow, x);
  }

  /** Show the stretch that is being dragged over, in pixels; null: none. */
  showArea(stretch: readonly [number, number] | null): void {
    this.pointer.showArea(stretch, this.plotNow);
  }

  setTheme(theme: ChartTheme): void {
    if (theme === this.theme) return;
    this.theme = theme;
    this.axes = "";
    this.names.forget();
    this.dress();
  }

  resize(size: { readonly width: number; readonly height: number }): void {
    if (size.width === this.size.width && size.height === this.size.height) return;
    this.size = size;
    this.axes = "";
    this.names.forget();
    this.chart.resize({ ...size });
  }

  dispose(): void {
    this.chart.dispose();
  }

  private path(build: (pen: RectPen) => void) {
    const Shape = graphic.extendShape({
      type: "tidscope-map",
      shape: {},
      buildPath(pen) {
        build(pen);
      },
    });
    return new Shape({ silent: true, zlevel: CELLS, z: 2, shape: {} });
  }

  private dress(): void {
    const { theme } = this;
    this.steering.dress(theme);
    this.lines.setStyle({ fill: theme.background });
    this.gaps.setStyle({ fill: theme.muted, opacity: 0.35 });
    this.births.setStyle({ fill: theme.written });
    this.exits.setStyle({ fill: theme.read });
    this.pointer.dress(theme);
  }

  private layAxes(picture: MapPicture | null): void {
    const { plotNow, theme } = this;
    const { left, top, width, height, t0_s, t1_s } = plotNow;
    this.clip.setShape({ x: left, y: top - STRIP_PX - 1, width, height: height + STRIP_PX + 1 });
    if (!picture) return;
    const { attached_unix_ms } = picture.view;
    const axes = [t0_s, t1_s, width, height, attached_unix_ms].join();
    if (axes === this.axes) return;
    this.axes = axes;
    const values = false;
    const unit = "count";
    const option = axesOption({
      ...{ t0_s, t1_s, y_top: 1, attached_unix_ms, unit, theme, width, values },
    });
    const grid = { ...option.grid, left, top, right: undefined, bottom: undefined, width, height };
    const yAxis = { ...option.yAxis, splitLine: { show: false } };
    this.chart.setOption({ ...option, grid, yAxis }, { silent: true });
  }

  private layImages(): void {
    const { picture, plotNow, images } = this;
    const { canvas } = this.cells;
    const { ratio, left, top, edges } = plotNow;
    const parts: [number, number][] = [];
    if (picture) {
      const { view, to } = picture;
      const from = Math.max(picture.from, Math.floor(view.t0_s / view.bin_s));
      const wrap = from - ringPlace(from, view.capacity) + view.capacity;
      parts.push([from, Math.min(to, wrap)]);
      if (to > wrap) parts.push([wrap, to]);
    }
    for (const [i, image] of images.entries()) {
      const [from, to] = parts[i] ?? [0, 0];
      if (!picture || to <= from) {
        if (!image.ignore) image.attr({ ignore: true });
        continue;
      }
      const { view } = picture;
      const across = view.bin_px * ratio;
      const high = edges[edges.length - 1] ?? 0;
      const x = left + Math.round((from * view.bin_s - view.t0_s) / (view.bin_s / view.bin_px));
      image.attr({ ignore: false });
      image.setStyle({
        image: canvas,
        sx: ringPlace(from, view.capacity) * across,
        sy: 0,
        sWidth: (to - from) * across,
        sHeight: high,
        x,
        y: top,
        width: (to - from) * view.bin_px,
        height: high / ratio,
      });
    }
  }

  private traceSeparators(pen: RectPen): void {
    const { picture, plotNow } = this;
    const groups = picture?.layout.groups ?? [];
    for (const group of groups.slice(1)) {
      const { y, height } = rowBox(plotNow, group.row, group.rows);
      if (height >= SEPARATED_PX) pen.rect(plotNow.left, Math.round(y), plotNow.width, 1);
    }
  }

  private traceGaps(pen: RectPen): void {
    const { picture, plotNow } = this;
    for (const [from, to] of picture?.view.gaps ?? []) {
      const x = xOf(plotNow, from);
      pen.rect(x, plotNow.top, xOf(plotNow, to) - x, plotNow.height);
    }
  }

  /** Ticks above the cells: up for births, down for exits, longer for more of them. */
  private traceTurnover(pen: RectPen, kind: "born" | "exited"): void {
    const { picture, plotNow } = this;
    if (!picture) return;
    const { view, from, to } = picture;
    const counts = picture[kind];
    const middle = plotNow.top - STRIP_PX / 2 - 1;
    for (let k = Math.max(from, Math.floor(view.t0_s / view.bin_s)); k < to; k++) {
      const count = counts[ringPlace(k, view.capacity)] ?? 0;
      if (count === 0) continue;
      const x = Math.round(xOf(plotNow, k * view.bin_s));
      const height = Math.min(STRIP_PX / 2 - 1, 2 + 2 * Math.log2(1 + count));
      pen.rect(x, kind === "born" ? middle - height : middle + 1, Math.max(2, view.bin_px), height);
    }
  }
}
