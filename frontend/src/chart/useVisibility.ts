import { type RefObject, useEffect, useState } from "react";

/**
 * Whether an element can be seen: it is not scrolled out of view. Until that is known it counts as
 * seen. What is out of view keeps its last picture: a print of the whole page shows that one.
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
