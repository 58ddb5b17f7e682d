/** Windows of a run: by keys, and as it plays. Pure. */

import type { Span } from "../../stream/window";

export const SPEEDS = ["1", "10", "60"] as const;
export type Speed = (typeof SPEEDS)[number];

/** How often the window moves while it plays. */
export const PLAY_STEP_MS = 100;
/** A run is advance in a window of this part of it, but no longer than a minute. */
const PART = 0.1;
const MAX_S = 60;
/** No window is shorter. */
export const MIN_S = 1;
const STEP = 0.1;
const ZOOM = 1.5;

/** Whether a window shows all there is. */
export function isWhole(window: Span, extent: Span): boolean {
  return window.t1_s - window.t0_s >= (extent.t1_s - extent.t0_s) * (1 - 1e-9);
}

/** The window to begin playing with: the whole run, and its end, begin at the start. */
export function playbackStart(window: Span, extent: Span): Span {
  const whole = isWhole(window, extent);
  const seconds = whole
    ? Math.max(MIN_S, Math.min(MAX_S, PART * (extent.t1_s - extent.t0_s)))
    : window.t1_s - window.t0_s;
  const over = window.t1_s >= extent.t1_s - 1e-9;
  const t0_s = whole || over ? extent.t0_s : window.t0_s;
  return { t0_s, t1_s: t0_s + seconds };
}

/** The window some seconds of the run later; null: it is at the end. */
export function advance(window: Span, extent: Span, by_s: number): Span | null {
  const room = extent.t1_s - window.t1_s;
  if (room <= 1e-9) {
    return null;
  }
  const by = Math.min(by_s, room);
  return { t0_s: window.t0_s + by, t1_s: window.t1_s + by };
}

/** Where a key on the scrub bar leads; null: nowhere. */
export function windowAfterKey(key: string, window: Span, extent: Span): Span | null {
  const width = window.t1_s - window.t0_s;
  const middle = (window.t0_s + window.t1_s) / 2;
  const moved = (by: number) => ({ t0_s: window.t0_s + by, t1_s: window.t1_s + by });
  const sized = (factor: number) => {
    const half = Math.max(MIN_S, width * factor) / 2;
    return { t0_s: middle - half, t1_s: middle + half };
  };
  switch (key) {
    case "ArrowLeft":
      return moved(-STEP * width);
    case "ArrowRight":
      return moved(STEP * width);
    case "PageUp":
      return moved(-width);
    case "PageDown":
      return moved(width);
    case "+":
    case "=":
      return sized(1 / ZOOM);
    case "-":
      return sized(ZOOM);
    case "Home":
      return moved(extent.t0_s - window.t0_s);
    case "End":
      return moved(extent.t1_s - window.t1_s);
    default:
      return null;
  }
}
