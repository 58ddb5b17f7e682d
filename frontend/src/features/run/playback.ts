/** Windows of a run, moved by keys and playback. Pure. */

import type { Span } from "../../stream/window";

export const SPEEDS = ["1", "10", "60"] as const;
export type Speed = (typeof SPEEDS)[number];

/** Interval of window moves during playback, in ms. */
export const PLAY_STEP_MS = 100;
/** Length of the playback window, as a share of the run, up to a minute. */
const PART = 0.1;
const MAX_S = 60;
/** Minimum length of a window, in seconds. */
export const MIN_S = 1;
const STEP = 0.1;
const ZOOM = 1.5;

/** Whether a window covers everything. */
export function isWhole(window: Span, extent: Span): boolean {
  return window.t1_s - window.t0_s >= (extent.t1_s - extent.t0_s) * (1 - 1e-9);
}

/** Initial window of playback: from the whole run or its end, playback starts at the beginning. */
export function playbackStart(window: Span, extent: Span): Span {
  const whole = isWhole(window, extent);
  const seconds = whole
    ? Math.max(MIN_S, Math.min(MAX_S, PART * (extent.t1_s - extent.t0_s)))
    : window.t1_s - window.t0_s;
  const over = window.t1_s >= extent.t1_s - 1e-9;
  const t0_s = whole || over ? extent.t0_s : window.t0_s;
  return { t0_s, t1_s: t0_s + seconds };
}

/** Advance the window by some seconds of the run; null at the end. */
export function advance(window: Span, extent: Span, by_s: number): Span | null {
  const room = extent.t1_s - window.t1_s;
  if (room <= 1e-9) {
    return null;
  }
  const by = Math.min(by_s, room);
  return { t0_s: window.t0_s + by, t1_s: window.t1_s + by };
}

/** Window after a key on the scrub bar; null if the key does nothing. */
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
