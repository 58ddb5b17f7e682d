/** The time axis under a person's hands: windows from wheel and drag. */

import type { TimeWindow } from "../stream/viewRequest";

const MIN_S = 1;
/** As long as the recent past of what is live is kept. */
const KEPT_S = 600;

/**
 * Zoom by a factor with one moment staying where it is. A live window (its right end is now) stays
 * live: it gets longer or shorter.
 *
 * @param factor Above 1: a longer window.
 * @param most_s The longest window there is.
 */
export function zoomed(
  window: TimeWindow,
  span: { readonly t0_s: number; readonly t1_s: number },
  at_s: number,
  factor: number,
  most_s = KEPT_S,
): TimeWindow {
  const seconds = Math.min(most_s, Math.max(MIN_S, (span.t1_s - span.t0_s) * factor));
  if (window.kind === "last") return { kind: "last", seconds: Math.max(2, Math.round(seconds)) };
  const share = (at_s - span.t0_s) / (span.t1_s - span.t0_s);
  const t0_s = at_s - share * seconds;
  return { kind: "fixed", t0_s, t1_s: t0_s + seconds };
}

/** The window between two moments, in any order; null if they are too close to mean it. */
export function between(a_s: number, b_s: number): TimeWindow | null {
  const t0_s = Math.min(a_s, b_s);
  const t1_s = Math.max(a_s, b_s);
  return t1_s - t0_s < 0.2 ? null : { kind: "fixed", t0_s, t1_s };
}

/** A window moved by some seconds; a live one becomes fixed. */
export function shifted(
  span: { readonly t0_s: number; readonly t1_s: number },
  by_s: number,
): TimeWindow {
  return { kind: "fixed", t0_s: span.t0_s + by_s, t1_s: span.t1_s + by_s };
}
