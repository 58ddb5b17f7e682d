/**
 * Scrolling goes before new views. To compose what is drawn with everything else on a long page
 * takes the browser longer than drawing it, and frames of the scrolling would be left out for it.
 */

/** Without a scroll event for so long, nobody scrolls. */
const STILL_MS = 150;
/** Who scrolls on and on sees new views this late at most. */
const MAX_MS = 400;

export interface Scrolling {
  /** Call when nobody scrolls, at once or later. */
  readonly whenStill: (call: () => void) => void;
  readonly dispose: () => void;
}

/** @param page Whose scrolling counts, all that is in it included; null: there is none (tests). */
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
      const look = (): void => {
        const now = performance.now();
        const due_ms = Math.min(scrolled_ms + STILL_MS, latest_ms);
        if (now >= due_ms) call();
        else setTimeout(look, due_ms - now);
      };
      look();
    },
    dispose: () => page?.removeEventListener("scroll", note, options),
  };
}
