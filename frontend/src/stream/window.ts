/** The time axis shared by all charts. */

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
 * Step of a live axis. Lines grow with every sample; the axis moves at most twice a second, since
 * each move repeats the layout of axes. In long windows a step is at least about two pixels.
 */
export function axisStep(seconds: number): number {
  return Math.max(0.5, seconds / 240);
}

/**
 * Lengths of a growing axis. It does not grow with each sample, which would redraw everything and
 * continually stretch the pictures.
 */
const LENGTHS_S = [10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700];

/**
 * Ends of the axis for a window.
 * @param now_s Newest instant (or freeze instant).
 * @param from_s Oldest available instant: a longer window is shortened to about the available
 * range.
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
