/**
 * The thread map on the page: ECharts draws the time axis, two zrender images show the ring of cells
 * (mapCanvas.ts), and names of roles stand on the axes' layer, which changes seldom. Highlights and
 * crosshair are a third layer.
 */

import { GridComponent } from "echarts/components";
import { type ECharts, graphic, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { type MapGroup, type MapLayout, rowAt } from "../model/mapLayout";
import {
  keyAt,
  type MapPicture,
  peakInSight,
  placeAt,
  placeOf,
  ringPlace,
} from "../model/mapPicture";
import type { Hover } from "../model/viewRequest";
import type { SteerView } from "../model/views";
import { MapCanvas } from "./mapCanvas";
import type { MapScale } from "./mapColours";
import { type MapPlot, mapPlot, rowBox, rowUnder, STRIP_PX } from "./mapPlot";
import { columnAtTime } from "./mapText";
import { axesOption } from "./option";
import type { ChartTheme } from "./palette";
import { colourStyle } from "./palette";
import { timeAt, xOf } from "./plot";
import { SteerLayer } from "./steerLayer";
import { nextRange, type YRange } from "./yRange";

use([GridComponent, CanvasRenderer]);

const CELLS = 1;
const POINTER = 2;
/** Names of roles need so much height. */
const LABEL_PX = 13;
const BAND_PX = 4;
/** A row this high has a band of its own. */
const BANDED_PX = 6;
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
  private readonly crosshair = new graphic.Line({ silent: true, zlevel: POINTER, ignore: true });
  private readonly selected = new graphic.Rect({ silent: true, zlevel: POINTER, ignore: true });
  private readonly hovered = new graphic.Rect({ silent: true, zlevel: POINTER, ignore: true });
  private readonly area = new graphic.Rect({ silent: true, zlevel: POINTER, ignore: true });
  private readonly labels: InstanceType<typeof graphic.Text>[] = [];
  private readonly bands: InstanceType<typeof graphic.Rect>[] = [];
  private readonly turnover = new graphic.Text({ silent: true, z: 2, ignore: true });
  /** In the strip above the cells marks are seen whatever the cells' colour. */
  private readonly steering = new SteerLayer("map", POINTER, STRIP_PX);
  private steer: SteerView | null = null;
  private readonly zr: Holder;
  private picture: MapPicture | null = null;
  private range: YRange | null = null;
  private unit = "";
  private axes = "";
  private named = "";
  private plotNow: MapPlot;

  constructor(
    container: HTMLElement,
    private theme: ChartTheme,
    private size: { readonly width: number; readonly height: number },
  ) {
    this.chart = init(container, null, { renderer: "canvas", ...size });
    this.plotNow = mapPlot(size, null, 0, window.devicePixelRatio);
    this.zr = this.chart.getZr();
    const inside = new graphic.Group({ silent: true });
    inside.setClipPath(this.clip);
    const held: Holder = inside;
    for (const element of [...this.images, this.gaps, this.lines, this.births, this.exits]) {
      held.add(element);
    }
    for (const element of [
      inside,
      this.turnover,
      this.crosshair,
      this.selected,
      this.hovered,
      this.area,
    ]) {
      this.zr.add(element);
    }
    this.steering.group.setClipPath(this.clip);
    this.zr.add(this.steering.group);
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
    this.layNames();
    this.layImages();
    this.laySteering();
    for (const path of [this.lines, this.gaps, this.births, this.exits]) path.dirtyShape();
  }

  /** The shared pointer moved, or another thread is selected. */
  point(hover: Hover, selected: string | null): void {
    const { plotNow, crosshair } = this;
    const { t_s } = hover;
    const ignore = t_s === null || t_s < plotNow.t0_s || t_s > plotNow.t1_s;
    if (!ignore) {
      const x = Math.round(xOf(plotNow, t_s)) + 0.5;
      const y1 = plotNow.top - STRIP_PX;
      crosshair.attr({ ignore, shape: { x1: x, x2: x, y1, y2: plotNow.top + plotNow.height } });
    } else if (!crosshair.ignore) {
      crosshair.attr({ ignore });
    }
    this.frame(this.selected, selected);
    this.frame(this.hovered, hover.key === selected ? null : hover.key);
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
    if (theme === this.theme) return;
    this.theme = theme;
    this.axes = "";
    this.named = "";
    this.dress();
  }

  resize(size: { readonly width: number; readonly height: number }): void {
    if (size.width === this.size.width && size.height === this.size.height) return;
    this.size = size;
    this.axes = "";
    this.named = "";
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
    this.crosshair.setStyle({ stroke: theme.crosshair, lineWidth: 1, lineDash: [3, 3] });
    this.selected.setStyle({ fill: "none", stroke: theme.text, lineWidth: 2 });
    this.hovered.setStyle({ fill: "none", stroke: theme.text, lineWidth: 1, lineDash: [2, 2] });
    this.area.setStyle({ fill: theme.crosshair, opacity: 0.3 });
  }

  /** Put a frame around a thread's row; null: none. */
  private frame(element: InstanceType<typeof graphic.Rect>, key: string | null): void {
    const { picture, plotNow } = this;
    const place = picture && key !== null ? placeOf(picture.layout, key) : -1;
    if (!picture || place < 0) {
      if (!element.ignore) element.attr({ ignore: true });
      return;
    }
    const { y, height } = rowBox(plotNow, rowAt(picture.layout, place));
    // A row of one pixel would vanish below its own frame.
    const room = Math.max(1.5, (5 - height) / 2);
    const { left, width } = plotNow;
    element.attr({
      ignore: false,
      shape: { x: left - 1.5, y: y - room, width: width + 3, height: height + 2 * room },
    });
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

  /** Names of roles left of their rows, as many as have room, and their colours. */
  private layNames(): void {
    const { picture, plotNow, theme, labels, bands } = this;
    const groups = picture?.layout.groups ?? [];
    const key = [picture?.edition ?? -1, plotNow.left, plotNow.edges.length, theme.dark].join();
    if (key === this.named) return;
    this.named = key;
    let used = 0;
    let below = plotNow.top - LABEL_PX / 2;
    const coloured = picture ? bandsOf(picture.layout, plotNow) : [];
    for (const [i, { row, rows, colour }] of coloured.entries()) {
      const { y, height } = rowBox(plotNow, row, rows);
      const band = bands[i] ?? this.addBand();
      band.attr({
        ignore: false,
        shape: {
          x: plotNow.left - BAND_PX - 3,
          y,
          width: BAND_PX,
          height: Math.max(1, height - 1),
        },
      });
      band.setStyle({ fill: colourStyle(colour, theme).colour });
    }
    for (const group of groups) {
      const { y, height } = rowBox(plotNow, group.row, group.rows);
      const middle = y + height / 2;
      if (middle - LABEL_PX / 2 < below) continue;
      below = middle + LABEL_PX / 2;
      const label = labels[used] ?? this.addLabel();
      used++;
      const count = group.threads > 1 ? ` ×${group.threads}` : "";
      const own = height >= 2 * LABEL_PX && plotNow.left < 100;
      label.attr({ ignore: false, x: plotNow.left - BAND_PX - 8, y: middle });
      label.setStyle({
        text: own ? `${group.role}\n${count.trim()}` : `${group.role}${count}`,
        align: "right",
        verticalAlign: "middle",
        width: plotNow.left - BAND_PX - 12,
        overflow: "truncate",
        fill: theme.muted,
        lineHeight: LABEL_PX,
        font: `11px ${theme.font}`,
      });
    }
    for (const label of labels.slice(used)) label.attr({ ignore: true });
    for (const band of bands.slice(coloured.length)) band.attr({ ignore: true });
    this.turnover.attr({
      ignore: !picture,
      x: plotNow.left - BAND_PX - 8,
      y: plotNow.top - STRIP_PX / 2 - 1,
    });
    this.turnover.setStyle({
      text: plotNow.left > 100 ? "born ▴  exited ▾" : "born/exit",
      align: "right",
      verticalAlign: "middle",
      fill: theme.muted,
      font: `10px ${theme.font}`,
    });
  }

  private addLabel(): InstanceType<typeof graphic.Text> {
    const label = new graphic.Text({ silent: true, z: 2 });
    this.labels.push(label);
    this.zr.add(label);
    return label;
  }

  private addBand(): InstanceType<typeof graphic.Rect> {
    const band = new graphic.Rect({ silent: true, z: 2 });
    this.bands.push(band);
    this.zr.add(band);
    return band;
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

/** Bands left of the rows: each thread's colour where a row is one thread and high enough, else the role's. */
function bandsOf(
  { groups, rows, first, colours, per_row }: MapLayout,
  plot: MapPlot,
): readonly Pick<MapGroup, "row" | "rows" | "colour">[] {
  if (per_row > 1 || rows === 0 || rowBox(plot, 0).height < BANDED_PX) return groups;
  return Array.from({ length: rows }, (_, row) => ({
    ...{ row, rows: 1 },
    colour: colours[first[row] ?? 0] ?? 0,
  }));
}
