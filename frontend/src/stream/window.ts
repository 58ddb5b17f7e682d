/** The time axis that all charts share. */

import type { TimeWindow } from "./viewRequest";

/** Ends of the time axis, seconds since attach. */
export interface Span {
  readonly t0_s: number;
  readonly t1_s: number;
}

export function sameSpan(a: Span, b: Span): boolean {
  return a.t0_s === b.t0_s && a.t1_s === b.t1_s;
}

/**
 * How far a live axis moves at a time: lines grow every sample, the axis moves twice a second at
 * most (each move lays axes out again), and in long windows by no less than two pixels or so.
 */
export function axisStep(seconds: number): number {
  return Math.max(0.5, seconds / 240);
}

/**
 * Lengths of an axis that grows with what there is. Not with each sample: all would be drawn again,
 * and pictures that stretch cannot be read.
 */
const LENGTHS_S = [10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700];

/**
 * Ends of the axis for a window.
 *
 * @param now_s Newest instant (or the one the view was frozen at).
 * @param from_s Oldest instant that there is: a longer window shows about as much.
 */
export function spanOf(window: TimeWindow, now_s: number, from_s = Number.NEGATIVE_INFINITY): Span {
  if (window.kind === "fixed") {
    return { t0_s: window.t0_s, t1_s: Math.max(window.t1_s, window.t0_s + 0.1) };
  }
  const grown = LENGTHS_S.find((length) => length >= now_s - from_s) ?? window.seconds;
  const seconds = Math.min(window.seconds, grown);
  const step = axisStep(seconds);
  const t1_s = Math.ceil(now_s / step - 1e-9) * step;
  return { t0_s: t1_s - seconds, t1_s };
}
