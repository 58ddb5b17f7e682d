import { type RefObject, useEffect, useState } from "react";

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
