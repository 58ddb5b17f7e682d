import { type RefObject, useCallback, useEffect, useRef } from "react";

/** How often something is drawn that is scrolled out of view. */
const OFFSCREEN_MS = 1000;

/**
 * Draw when there is something new: at once in view, at a lower rate out of it, and when it comes into
 * view. The last state is always drawn: a print or a picture of the whole page shows it too.
 *
 * @param draw Stable from render to render.
 * @returns To call when there is something new; stable as well.
 */
export function useVisibility(place: RefObject<HTMLElement | null>, draw: () => void): () => void {
  const inView = useRef(true);
  const drawn_ms = useRef(Number.NEGATIVE_INFINITY);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const drawNow = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = undefined;
    drawn_ms.current = performance.now();
    draw();
  }, [draw]);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const observer = new IntersectionObserver((entries) => {
      inView.current = entries.at(-1)?.isIntersecting ?? true;
      if (inView.current) drawNow();
    });
    observer.observe(element);
    window.addEventListener("beforeprint", drawNow);
    return () => {
      observer.disconnect();
      window.removeEventListener("beforeprint", drawNow);
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [place, drawNow]);
  return useCallback(() => {
    const rest_ms = drawn_ms.current + OFFSCREEN_MS - performance.now();
    if (inView.current || rest_ms <= 0) drawNow();
    // Without a further change, as in a run, this one is the last.
    else timer.current ??= setTimeout(drawNow, rest_ms);
  }, [drawNow]);
}
