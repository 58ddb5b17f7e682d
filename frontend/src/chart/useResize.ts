import { type RefObject, useEffect, useState } from "react";
import { printing } from "../base/printing";

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
