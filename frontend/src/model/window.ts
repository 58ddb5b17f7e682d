/** The time axis that all charts share. */

import type { TimeWindow } from "./viewRequest";

/** Ends of the time axis, seconds since attach. */
export interface Span {
  readonly t0_s: number;
  readonly t1_s: number;
}

/**
 * How far a live axis moves at a time: lines grow every sample, the axis moves twice a second at
 * most (each move lays axes out again), and in long windows by no less than two pixels or so.
 */
export function axisStep(seconds: number): number {
  return Math.max(0.5, seconds / 240);
}

/**
 * Ends of the axis for a window.
 *
 * @param now_s Newest instant (or the one the view was frozen at).
 */
export function spanOf(window: TimeWindow, now_s: number): Span {
  if (window.kind === "fixed") {
    return { t0_s: window.t0_s, t1_s: Math.max(window.t1_s, window.t0_s + 0.1) };
  }
  const step = axisStep(window.seconds);
  const t1_s = Math.ceil(now_s / step - 1e-9) * step;
  return { t0_s: t1_s - window.seconds, t1_s };
}
