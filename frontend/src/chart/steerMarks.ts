/** Steering in a chart: marks, bands and texts. Pure. */

import { counted } from "../stream/format";
import type { DecisionView, SteerBand, SteerView } from "../stream/steerView";
import type { ChartId } from "../stream/viewRequest";
import { labelOn } from "./canvasLayer";
import { type ChartTheme, policyColour } from "./palette";
import { type Plot, xOf } from "./plot";

/** A thin line across a chart. */
export interface SteerMark {
  readonly t_s: number;
  /** moved: the size changed; restart: the search started again; kept: a decision to stay. */
  readonly kind: "moved" | "restart" | "kept";
}

/** Maximum distance for pointing at a mark, in pixels. */
const NEAR_PX = 6;

/** Charts of the steering itself: they show all decisions and the policies' bands. */
export function isSteerChart(chart: ChartId | "map"): boolean {
  return chart === "gomaxprocs" || chart === "ops";
}

/**
 * Marks of a chart within the plot: changes and restarts in every chart, all decisions in steering
 * charts.
 */
export function steerMarks(
  steer: SteerView | null,
  chart: ChartId | "map",
  { t0_s, t1_s }: Pick<Plot, "t0_s" | "t1_s">,
): readonly SteerMark[] {
  if (steer === null) return [];
  const inside = ({ t_s }: { readonly t_s: number }): boolean => t_s >= t0_s && t_s <= t1_s;
  const own = isSteerChart(chart);
  const decided = steer.decisions.filter(inside).flatMap((decision): SteerMark[] => {
    const moved = isMove(decision);
    return moved || own ? [{ t_s: decision.t_s, kind: moved ? "moved" : "kept" }] : [];
  });
  const restarts = steer.restarts
    .filter(inside)
    .map(({ t_s }) => ({ t_s, kind: "restart" as const }));
  return [...decided, ...restarts];
}

/** Whether the size changed, or would have changed in shadow mode. */
export function isMove({ size, next_size }: DecisionView): boolean {
  return next_size !== size;
}

/** Position of a policy's band in a plot. */
export interface BandBox {
  readonly x: number;
  readonly width: number;
  readonly label: string;
  /** Bands of one policy share a style. */
  readonly policy: string;
}

/** Bands within a plot; an unfinished band extends to the right edge. */
export function bandBoxes(steer: SteerView | null, plot: Plot): readonly BandBox[] {
  const { t0_s, t1_s, left, width } = plot;
  return (steer?.bands ?? []).flatMap((band): BandBox[] => {
    const to_s = Math.min(band.to_s ?? t1_s, t1_s);
    const from_s = Math.max(band.from_s, t0_s);
    if (to_s <= from_s) return [];
    const x = Math.max(left, xOf(plot, from_s));
    const end = Math.min(left + width, xOf(plot, to_s));
    return [{ x, width: Math.max(1, end - x), label: bandLabel(band), policy: band.policy }];
  });
}

/** Text of a band: the policy, and whether it runs in shadow mode. */
export function bandLabel({ policy, shadow }: Pick<SteerBand, "policy" | "shadow">): string {
  return shadow ? `${policy} (shadow)` : policy;
}

/** Width of a letter in a band's label, in pixels, rounded up. */
const LETTER_PX = 7;

/** A label cut to a width; "" if too little would remain. */
export function fitted(label: string, width_px: number): string {
  const letters = Math.floor((width_px - 12) / LETTER_PX);
  if (letters >= label.length) return label;
  return letters < 5 ? "" : `${label.slice(0, letters - 1)}…`;
}

/** Note on the steering under the pointer, or null. */
export function steerNote(
  steer: SteerView | null,
  chart: ChartId | "map",
  plot: Plot,
  t_s: number,
): string | null {
  if (steer === null) return null;
  const reach_s = (NEAR_PX / plot.width) * (plot.t1_s - plot.t0_s);
  const restart = steer.restarts.findLast((each) => Math.abs(each.t_s - t_s) <= reach_s);
  if (restart !== undefined) {
    return `${ofProgram(restart)}${restart.policy} search restarted: ${restart.reason}`;
  }
  const own = isSteerChart(chart);
  const decision = steer.decisions.findLast(
    (each) => each.t_s <= t_s + reach_s && (own || (isMove(each) && each.t_s >= t_s - reach_s)),
  );
  if (decision?.program !== undefined && decision.t_s >= t_s - reach_s) {
    return `${ofProgram(decision)}${decision.policy}: ${decisionWords(decision)}. ${decision.reason}`;
  }
  const band = steer.bands.findLast(({ from_s }) => from_s <= t_s + reach_s);
  const over = band === undefined || (band.to_s !== null && band.to_s < t_s - reach_s);
  if (decision === undefined || over || decision.t_s < band.from_s) return null;
  return `${decision.policy}: ${decisionWords(decision)}. ${decision.reason}`;
}

function ofProgram({ program }: { readonly program?: string }): string {
  return program === undefined ? "" : `${program}, `;
}

/** A decision in few words: "8 → 9", "stays at 8", "stays at 8, would set 9". */
export function decisionWords({ size, next_size, proposed }: DecisionView): string {
  if (next_size !== size) return `${size} → ${next_size}`;
  if (proposed !== null && proposed !== size) return `stays at ${size}, would set ${proposed}`;
  return `stays at ${size}`;
}

/** Steering within a span in words, for screen readers; "" if none. */
export function describeSteer(steer: SteerView | null, t0_s: number, t1_s: number): string {
  if (steer === null) return "";
  const bands = steer.bands.filter((band) => band.from_s <= t1_s && (band.to_s ?? t1_s) > t0_s);
  const decisions = steer.decisions.filter(({ t_s }) => t_s >= t0_s && t_s <= t1_s);
  const restarts = steer.restarts.filter(({ t_s }) => t_s >= t0_s && t_s <= t1_s).length;
  if (bands.length === 0) return "";
  const names = [...new Set(bands.map(bandLabel))].join(", then ");
  const moves = decisions.filter(isMove);
  const last = decisions.at(-1);
  const lastMove = moves.at(-1);
  const parts = [
    ` Steered by ${names}.`,
    ` ${counted(decisions.length, "decision")}, ${moves.length} of them changed the size.`,
    restarts > 0 ? ` ${counted(restarts, "restart")} of the search.` : "",
    lastMove === undefined ? "" : ` Last change ${decisionWords(lastMove)}: ${lastMove.reason}`,
    last === undefined || last === lastMove ? "" : ` Now: ${last.reason}`,
  ];
  return parts.join("");
}

const KEPT_PX = 5;
const FLAG_PX = 4;

/** Draw the policies' bands; only steering charts have bands. */
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
 * @param rise_px Height of the marks above the plot.
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

/** Draw a flag at the head of each restart, which the dash alone does not distinguish. */
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
