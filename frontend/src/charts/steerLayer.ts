/** The layer of the steering in a chart: bands behind the lines, marks across them. */

import { graphic } from "echarts/core";
import type { SteerView } from "../model/steerView";
import type { ChartId } from "../model/viewRequest";
import type { ChartTheme } from "./palette";
import { policyColour } from "./palette";
import type { Plot } from "./plot";
import { xOf } from "./plot";
import { bandBoxes, fitted, isSteerChart, type SteerMark, steerMarks } from "./steerMarks";

const KEPT_PX = 5;
const FLAG_PX = 4;

interface Holder {
  add(element: unknown): unknown;
}

type Pen = Pick<CanvasRenderingContext2D, "moveTo" | "lineTo" | "closePath">;

export class SteerLayer {
  readonly group = new graphic.Group({ silent: true });
  private readonly moved;
  private readonly kept;
  private readonly restarts;
  private readonly flags;
  private readonly bands: InstanceType<typeof graphic.Rect>[] = [];
  private readonly labels: InstanceType<typeof graphic.Text>[] = [];
  private marks: readonly SteerMark[] = [];
  private plot: Plot | null = null;
  private laid = "";

  /**
   * @param zlevel The canvas to draw on.
   * @param rise_px How far marks reach above the plot.
   */
  constructor(
    private readonly chart: ChartId | "map",
    private readonly zlevel: number,
    private readonly rise_px = 0,
  ) {
    this.moved = this.path((pen) => this.trace(pen, "moved"));
    this.kept = this.path((pen) => this.trace(pen, "kept"));
    this.restarts = this.path((pen) => this.trace(pen, "restart"));
    this.flags = this.path((pen) => this.traceFlags(pen));
    const held: Holder = this.group;
    for (const path of [this.moved, this.kept, this.restarts, this.flags]) held.add(path);
  }

  dress(theme: ChartTheme): void {
    this.laid = "";
    this.moved.setStyle({
      fill: "none",
      stroke: theme.muted,
      lineWidth: 1,
      opacity: 0.6,
      lineDash: [2, 3],
    });
    this.kept.setStyle({ fill: "none", stroke: theme.muted, lineWidth: 1 });
    this.restarts.setStyle({ fill: "none", stroke: theme.text, lineWidth: 1, opacity: 0.75 });
    this.flags.setStyle({ fill: theme.text, stroke: "none" });
  }

  /** Lay bands and marks out again, if anything moved. */
  lay(steer: SteerView | null, plot: Plot, theme: ChartTheme): void {
    const marks = steerMarks(steer, this.chart, plot);
    const boxes = isSteerChart(this.chart) ? bandBoxes(steer, plot) : [];
    const { left, top, width, height, t0_s, t1_s } = plot;
    const end = boxes.map((box) => `${Math.round(box.x)} ${Math.round(box.width)} ${box.label}`);
    const last = marks.at(-1)?.t_s;
    const laid = [left, top, width, height, t0_s, t1_s, marks.length, last, ...end].join();
    if (laid === this.laid) return;
    this.laid = laid;
    this.marks = marks;
    this.plot = plot;
    for (const path of [this.moved, this.kept, this.restarts, this.flags]) path.dirtyShape();
    for (const [i, box] of boxes.entries()) {
      const colour = policyColour(box.policy, theme);
      const band = this.bands[i] ?? this.addBand();
      band.attr({ ignore: false, shape: { x: box.x, y: top, width: box.width, height } });
      band.setStyle({ fill: colour, opacity: theme.dark ? 0.16 : 0.11 });
      const label = this.labels[i] ?? this.addLabel();
      const text = this.chart === "gomaxprocs" ? fitted(box.label, box.width) : "";
      label.attr({ ignore: text === "", x: box.x + 3, y: top + 3 });
      label.setStyle({
        text,
        fill: theme.text,
        backgroundColor: theme.background,
        padding: [1, 3],
        font: `600 11px ${theme.font}`,
      });
    }
    for (const band of this.bands.slice(boxes.length)) band.attr({ ignore: true });
    for (const label of this.labels.slice(boxes.length)) label.attr({ ignore: true });
  }

  private path(build: (pen: Pen) => void) {
    const Shape = graphic.extendShape({
      type: "tidscope-steer",
      shape: {},
      buildPath(pen) {
        build(pen);
      },
    });
    return new Shape({ silent: true, zlevel: this.zlevel, z: 2, shape: {} });
  }

  private trace(pen: Pen, kind: SteerMark["kind"]): void {
    const { plot } = this;
    if (!plot) return;
    const foot = plot.top + plot.height;
    for (const mark of this.marks) {
      if (mark.kind !== kind) continue;
      const x = Math.round(xOf(plot, mark.t_s)) + 0.5;
      pen.moveTo(x, kind === "kept" ? foot - KEPT_PX : plot.top - this.rise_px);
      pen.lineTo(x, foot);
    }
  }

  /** A restart has a flag at its head: the dash alone does not show it. */
  private traceFlags(pen: Pen): void {
    const { plot } = this;
    if (!plot) return;
    const top = plot.top - this.rise_px;
    for (const { t_s, kind } of this.marks) {
      if (kind !== "restart") continue;
      const x = Math.round(xOf(plot, t_s)) + 0.5;
      pen.moveTo(x - FLAG_PX, top);
      pen.lineTo(x + FLAG_PX, top);
      pen.lineTo(x, top + 1.5 * FLAG_PX);
      pen.closePath();
    }
  }

  private addBand(): InstanceType<typeof graphic.Rect> {
    const band = new graphic.Rect({ silent: true, zlevel: this.zlevel, z: 0 });
    this.bands.push(band);
    const held: Holder = this.group;
    held.add(band);
    return band;
  }

  private addLabel(): InstanceType<typeof graphic.Text> {
    const label = new graphic.Text({ silent: true, zlevel: this.zlevel, z: 3 });
    this.labels.push(label);
    const held: Holder = this.group;
    held.add(label);
    return label;
  }
}
