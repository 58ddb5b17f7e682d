/** The time axis under a person's hands: windows from wheel and drag. */

import { createStore } from "../base/store";
import type { LiveClient } from "../stream/client";
import type { TimeWindow } from "../stream/viewRequest";
import type { Span } from "../stream/window";

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

export type WindowMove = "earlier" | "later" | "shorter" | "longer" | "back";

/** Parts of a window that a key moves it by, and the factor of one that sizes it. */
const STEP = 0.5;
const ZOOM = 1.5;
/** What is live again after a window that was chosen. */
const LIVE: TimeWindow = { kind: "last", seconds: 60 };

/**
 * The window after a key.
 *
 * @param span What is in view; a live window moves as one of these seconds.
 * @param newest_s The last instant there is.
 * @param extent The widest window there is, of a run; null: what is live has no end.
 */
export function windowAfterMove(
  move: WindowMove,
  window: TimeWindow,
  span: Span,
  newest_s: number,
  extent: Span | null,
): TimeWindow {
  const width = span.t1_s - span.t0_s;
  const middle = (span.t0_s + span.t1_s) / 2;
  const most_s = extent ? extent.t1_s - extent.t0_s : undefined;
  switch (move) {
    case "earlier":
      return shifted(span, -STEP * width);
    case "later": {
      if (window.kind === "last") return window;
      const by = Math.min(STEP * width, Math.max(0, newest_s - span.t1_s));
      return by === 0 && !extent ? LIVE : shifted(span, by);
    }
    case "shorter":
      return zoomed(window, span, middle, 1 / ZOOM, most_s);
    case "longer":
      return zoomed(window, span, middle, ZOOM, most_s);
    case "back":
      return extent ? (between(extent.t0_s, extent.t1_s) ?? window) : LIVE;
  }
}

/** Whose window keys move: that of the charts on the page; null: there are none. */
export const windowClient = createStore<LiveClient | null>(null);

/** Move the window that is in view. */
export function moveWindow(move: WindowMove): void {
  const client = windowClient.get();
  const view = client?.target.get() ?? null;
  if (client === null || view === null) return;
  const { t0_s, t1_s, now_s } = view;
  const { extent } = client;
  const { window } = client.view.get();
  const newest_s = extent?.t1_s ?? now_s;
  const span = window.kind === "fixed" ? window : { t0_s, t1_s };
  client.request({ window: windowAfterMove(move, window, span, newest_s, extent) });
}
