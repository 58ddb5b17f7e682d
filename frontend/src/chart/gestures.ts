/**
 * Pointer gestures on a chart. Moving points at a moment on all charts; a click selects the nearest
 * line's thread. A drag zooms to its span (with Shift: moves the window). Ctrl or Shift with the
 * wheel zooms; a double click returns to the live window.
 */

import type { Hover, ThreadKey, TimeWindow } from "../stream/viewRequest";
import type { Span } from "../stream/window";
import { inPlot, type Plot } from "./plot";
import { between, shifted, zoomed } from "./zoom";

/** Movement below this is a click, in pixels. */
const DRAG_PX = 5;

/** Part of the drawing surface that gestures need. */
export interface GestureSurface {
  readonly plot: Plot;
  timeAt(x: number): number;
  showArea(stretch: readonly [number, number] | null): void;
}

/** State of the page that gestures read, and their callbacks. */
export interface ChartControls {
  readonly window: () => TimeWindow;
  /** The widest window of a run; null for live data, which is unbounded. */
  readonly extent: Span | null;
  /** The pointer moved, or left the plot. */
  readonly onPoint: (hover: Hover) => void;
  /** A thread was clicked. */
  readonly onSelect: (key: ThreadKey) => void;
  readonly onWindow: (window: TimeWindow) => void;
}

/** Element and state that gestures work on. */
export interface GestureSubject {
  readonly controls: ChartControls;
  readonly chart: Hover["chart"];
  readonly surface: GestureSurface;
  /** The thread near a pixel of the element, or null. */
  readonly keyAt: (x: number, y: number) => ThreadKey | null;
}

/** Attach listeners to a chart's element; returns the detach function. */
export function attachGestures(element: HTMLElement, subject: GestureSubject): () => void {
  const { controls, chart, surface, keyAt } = subject;
  const listening = new AbortController();
  const { signal } = listening;
  let down: { x: number; pan: boolean; t0_s: number; t1_s: number } | null = null;
  let moved = false;
  let live = controls.window();

  const place = (event: MouseEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const span = (): { t0_s: number; t1_s: number } => surface.plot;
  const leave = (): void => controls.onPoint({ t_s: null, key: null, chart: null });

  element.addEventListener(
    "pointermove",
    (event) => {
      const [x, y] = place(event);
      if (down) {
        if (Math.abs(x - down.x) >= DRAG_PX) moved = true;
        if (moved && down.pan) {
          const per_px = (down.t1_s - down.t0_s) / surface.plot.width;
          controls.onWindow(shifted(down, (down.x - x) * per_px));
        } else if (moved) {
          surface.showArea([clamped(down.x, surface), clamped(x, surface)]);
        }
        return;
      }
      if (!inPlot(surface.plot, x, y)) leave();
      else controls.onPoint({ t_s: surface.timeAt(x), key: keyAt(x, y), chart });
    },
    { signal },
  );
  element.addEventListener("pointerleave", leave, { signal });
  element.addEventListener(
    "pointerdown",
    (event) => {
      const [x, y] = place(event);
      if (event.button !== 0 || !inPlot(surface.plot, x, y)) return;
      // Touch scrolls the page; only a hovering pointer can drag.
      if (event.pointerType !== "touch") element.setPointerCapture(event.pointerId);
      const window = controls.window();
      if (window.kind === "last") live = window;
      down = { x, pan: event.shiftKey, ...span() };
      moved = false;
    },
    { signal },
  );
  element.addEventListener(
    "pointerup",
    (event) => {
      if (!down) return;
      const [x, y] = place(event);
      const from = down;
      down = null;
      surface.showArea(null);
      if (!moved) {
        const key = keyAt(x, y);
        if (key !== null) controls.onSelect(key);
      } else if (!from.pan) {
        const window = between(surface.timeAt(from.x), surface.timeAt(x));
        if (window) controls.onWindow(window);
      }
    },
    { signal },
  );
  element.addEventListener(
    "pointercancel",
    () => {
      down = null;
      surface.showArea(null);
    },
    { signal },
  );
  element.addEventListener(
    "dblclick",
    () => {
      const { extent } = controls;
      if (extent) controls.onWindow({ kind: "fixed", ...extent });
      else if (controls.window().kind === "fixed") controls.onWindow(live);
    },
    { signal },
  );
  element.addEventListener(
    "wheel",
    (event) => {
      // The plain wheel scrolls the page.
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const window = controls.window();
      if (window.kind === "last") live = window;
      const amount = event.deltaY === 0 ? event.deltaX : event.deltaY;
      const at_s = surface.timeAt(place(event)[0]);
      const { extent } = controls;
      const most_s = extent ? extent.t1_s - extent.t0_s : undefined;
      controls.onWindow(zoomed(window, span(), at_s, amount > 0 ? 1.25 : 0.8, most_s));
    },
    { signal, passive: false },
  );
  return () => listening.abort();
}

function clamped(x: number, { plot }: GestureSurface): number {
  return Math.min(plot.left + plot.width, Math.max(plot.left, x));
}
