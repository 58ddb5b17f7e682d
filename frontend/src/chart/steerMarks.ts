/** What steering puts into a chart: which marks, which bands, which words. Pure. */

import { counted } from "../stream/format";
import type { DecisionView, SteerBand, SteerView } from "../stream/steerView";
import type { ChartId } from "../stream/viewRequest";
import { type Plot, xOf } from "./plot";

/** A thin line across a chart. */
export interface SteerMark {
  readonly t_s: number;
  /** moved: the size changed; restart: the search started again; kept: a decision to stay. */
  readonly kind: "moved" | "restart" | "kept";
}

/** A mark is pointed at from this far, pixels. */
const NEAR_PX = 6;

/** Charts of the steering itself: they show all decisions and the policies' bands. */
export function isSteerChart(chart: ChartId | "map"): boolean {
  return chart === "gomaxprocs" || chart === "ops";
}

/** Marks of a chart within the plot: changes and restarts everywhere, all decisions in its own. */
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

/** Whether the size changed, or would have in shadow mode. */
export function isMove({ size, next_size }: DecisionView): boolean {
  return next_size !== size;
}

/** A policy's band as it lies in a plot. */
export interface BandBox {
  readonly x: number;
  readonly width: number;
  readonly label: string;
  /** Bands of one policy look the same. */
  readonly policy: string;
}

/** The bands within a plot; one that goes on reaches to its right edge. */
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

/** What a band says: the policy, and whether it only shadows. */
export function bandLabel({ policy, shadow }: Pick<SteerBand, "policy" | "shadow">): string {
  return shadow ? `${policy} (shadow)` : policy;
}

/** Width of a letter of a band's label, pixels, or a little more. */
const LETTER_PX = 7;

/** A label cut to a width; "" where there is no room for what would mean anything. */
export function fitted(label: string, width_px: number): string {
  const letters = Math.floor((width_px - 12) / LETTER_PX);
  if (letters >= label.length) return label;
  return letters < 5 ? "" : `${label.slice(0, letters - 1)}…`;
}

/** What to say of the steering where the pointer is; null: nothing. */
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

/** The steering within a span in words, for those who do not see the timeline; "" if there is none. */
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
