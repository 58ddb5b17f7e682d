/** Zooming and panning of the time axis: windows from wheel and drag. */

import { createStore } from "../base/store";
import type { LiveClient } from "../stream/client";
import type { TimeWindow } from "../stream/viewRequest";
import type { Span } from "../stream/window";

const MIN_S = 1;
/** Retention of live data, in seconds. */
const KEPT_S = 600;

/**
 * Zoom by a factor around a fixed moment. A live window (its right end is now) stays live and
 * changes its length.
 * @param factor Above 1: a longer window.
 * @param most_s Maximum length of a window.
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

/** The window between two moments, in any order; null if too short to be intended. */
export function between(a_s: number, b_s: number): TimeWindow | null {
  const t0_s = Math.min(a_s, b_s);
  const t1_s = Math.max(a_s, b_s);
  return t1_s - t0_s < 0.2 ? null : { kind: "fixed", t0_s, t1_s };
}

/** A window shifted by some seconds; a live one becomes fixed. */
export function shifted(
  span: { readonly t0_s: number; readonly t1_s: number },
  by_s: number,
): TimeWindow {
  return { kind: "fixed", t0_s: span.t0_s + by_s, t1_s: span.t1_s + by_s };
}

export type WindowMove = "earlier" | "later" | "shorter" | "longer" | "back";

/** Share of a window that a key shifts, and the zoom factor of a key. */
const STEP = 0.5;
const ZOOM = 1.5;
/** Live window restored after a chosen window. */
const LIVE: TimeWindow = { kind: "last", seconds: 60 };

/**
 * The window after a key.
 * @param span Visible span; a live window shifts as one of this length.
 * @param newest_s The newest instant.
 * @param extent The widest window of a run; null for live data, which is unbounded.
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

/** Client whose window keys control: the one of the visible charts; null if none. */
export const windowClient = createStore<LiveClient | null>(null);

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
