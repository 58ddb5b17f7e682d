import { type RefObject, useEffect, useState } from "react";
import { printing } from "../base/theme";

/** Width of an element in CSS pixels; 0 until it is in the page, later at least 1. */
export function useResize(place: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const measure = () => setWidth(Math.max(1, element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // Sheets are laid out before observers run.
    const stop = printing.subscribe(measure);
    return () => {
      stop();
      observer.disconnect();
    };
  }, [place]);
  return width;
}

/**
 * Whether an element is visible, not scrolled out of view. True until known. An invisible chart
 * keeps its last picture, which a print of the whole page shows.
 */
export function useVisibility(place: RefObject<HTMLElement | null>): boolean {
  const [inView, setInView] = useState(true);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const observer = new IntersectionObserver((entries) => {
      setInView(entries.at(-1)?.isIntersecting ?? true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);
  return inView;
}
