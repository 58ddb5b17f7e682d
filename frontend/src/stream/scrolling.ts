/**
 * Scrolling has priority over new views. Compositing a drawn chart on a long page takes the browser
 * longer than drawing it, and would drop scroll frames.
 */

/** Time without a scroll event after which scrolling has ended, in ms. */
const STILL_MS = 150;
/** Maximum delay of views during continuous scrolling, in ms. */
const MAX_MS = 400;

export interface Scrolling {
  /** Call as soon as nobody scrolls. */
  readonly whenStill: (call: () => void) => void;
  readonly dispose: () => void;
}

/**
 * @param page Element whose scrolling counts, including its descendants; null if there is none
 * (tests).
 */
export function watchScrolling(page: EventTarget | null): Scrolling {
  let scrolled_ms = Number.NEGATIVE_INFINITY;
  const note = (): void => {
    scrolled_ms = performance.now();
  };
  const options = { capture: true, passive: true };
  page?.addEventListener("scroll", note, options);
  return {
    whenStill: (call) => {
      const latest_ms = performance.now() + MAX_MS;
      const poll = (): void => {
        const now = performance.now();
        const due_ms = Math.min(scrolled_ms + STILL_MS, latest_ms);
        if (now >= due_ms) call();
        else setTimeout(poll, due_ms - now);
      };
      poll();
    },
    dispose: () => page?.removeEventListener("scroll", note, options),
  };
}
