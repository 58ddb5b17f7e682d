/** What steering draws in a chart: bands behind the lines, marks across them. */

import type { SteerView } from "../stream/steerView";
import type { ChartId } from "../stream/viewRequest";
import { labelOn } from "./canvasLayer";
import type { ChartTheme } from "./palette";
import { policyColour } from "./palette";
import type { Plot } from "./plot";
import { xOf } from "./plot";
import { bandBoxes, fitted, isSteerChart, type SteerMark, steerMarks } from "./steerMarks";

const KEPT_PX = 5;
const FLAG_PX = 4;

/** Draw the policies' bands; only the charts of the steering have them. */
export function drawSteerBands(
  context: CanvasRenderingContext2D,
  chart: ChartId,
  steer: SteerView | null,
  plot: Plot,
  theme: ChartTheme,
): void {
  if (!isSteerChart(chart)) return;
  context.globalAlpha = theme.dark ? 0.16 : 0.11;
  for (const { x, width, policy } of bandBoxes(steer, plot)) {
    context.fillStyle = policyColour(policy, theme);
    context.fillRect(x, plot.top, width, plot.height);
  }
  context.globalAlpha = 1;
}

/**
 * Draw marks of decisions, and the names of the bands.
 *
 * @param rise_px How far marks reach above the plot.
 */
export function drawSteerMarks(
  context: CanvasRenderingContext2D,
  chart: ChartId | "map",
  steer: SteerView | null,
  plot: Plot,
  theme: ChartTheme,
  rise_px = 0,
): void {
  const marks = steerMarks(steer, chart, plot);
  if (marks.length > 0) {
    context.lineWidth = 1;
    context.strokeStyle = theme.muted;
    context.globalAlpha = 0.6;
    context.setLineDash([2, 3]);
    strokeMarks(context, marks, "moved", plot, rise_px);
    context.globalAlpha = 1;
    context.setLineDash([]);
    strokeMarks(context, marks, "kept", plot, rise_px);
    context.strokeStyle = theme.text;
    context.globalAlpha = 0.75;
    strokeMarks(context, marks, "restart", plot, rise_px);
    context.globalAlpha = 1;
    fillFlags(context, marks, plot, rise_px, theme);
  }
  if (chart !== "gomaxprocs") return;
  const font = `600 11px ${theme.font}`;
  const style = { font, fill: theme.text, background: theme.background };
  for (const { x, width, label } of bandBoxes(steer, plot)) {
    const text = fitted(label, width);
    if (text !== "") labelOn(context, text, x + 3, plot.top + 3, style);
  }
}

function strokeMarks(
  context: CanvasRenderingContext2D,
  marks: readonly SteerMark[],
  kind: SteerMark["kind"],
  plot: Plot,
  rise_px: number,
): void {
  const foot = plot.top + plot.height;
  context.beginPath();
  for (const mark of marks) {
    if (mark.kind !== kind) continue;
    const x = Math.round(xOf(plot, mark.t_s)) + 0.5;
    context.moveTo(x, kind === "kept" ? foot - KEPT_PX : plot.top - rise_px);
    context.lineTo(x, foot);
  }
  context.stroke();
}

/** A restart has a flag at its head: the dash alone does not show it. */
function fillFlags(
  context: CanvasRenderingContext2D,
  marks: readonly SteerMark[],
  plot: Plot,
  rise_px: number,
  theme: ChartTheme,
): void {
  const top = plot.top - rise_px;
  context.fillStyle = theme.text;
  context.beginPath();
  for (const { t_s, kind } of marks) {
    if (kind !== "restart") continue;
    const x = Math.round(xOf(plot, t_s)) + 0.5;
    context.moveTo(x - FLAG_PX, top);
    context.lineTo(x + FLAG_PX, top);
    context.lineTo(x, top + 1.5 * FLAG_PX);
    context.closePath();
  }
  context.fill();
}
