import { type RefObject, useCallback, useEffect, useRef } from "react";

/** How often something is drawn that is scrolled out of view. */
const OFFSCREEN_MS = 1000;

/**
 * Draw when there is something new: at once in view, at a lower rate out of it, and when it comes into
 * view. Never dropped: a print or a picture of the whole page shows it too.
 *
 * @param draw Stable from render to render.
 * @returns To call when there is something new; stable as well.
 */
export function useVisibility(place: RefObject<HTMLElement | null>, draw: () => void): () => void {
  const inView = useRef(true);
  const drawn_ms = useRef(Number.NEGATIVE_INFINITY);
  const drawNow = useCallback(() => {
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
    };
  }, [place, drawNow]);
  return useCallback(() => {
    if (inView.current || performance.now() - drawn_ms.current >= OFFSCREEN_MS) drawNow();
  }, [drawNow]);
}
