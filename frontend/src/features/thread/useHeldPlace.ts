import { useEffect, useLayoutEffect, useRef } from "react";

/** The last element pressed, and its position in the window. */
interface Pressed {
  readonly element: Element;
  readonly top: number;
}

/** Keep the pressed element in place when its action changes the layout. */
export function useHeldPlace(change: unknown): void {
  const pressed = useRef<Pressed | null>(null);
  const before = useRef(change);
  useEffect(() => {
    const note = ({ target }: Event) => {
      pressed.current =
        target instanceof Element
          ? { element: target, top: target.getBoundingClientRect().top }
          : null;
    };
    window.addEventListener("pointerdown", note, { capture: true });
    return () => window.removeEventListener("pointerdown", note, { capture: true });
  }, []);
  useLayoutEffect(() => {
    if (change === before.current) {
      return;
    }
    before.current = change;
    const { current } = pressed;
    pressed.current = null;
    if (current?.element.isConnected !== true) {
      return;
    }
    const moved = current.element.getBoundingClientRect().top - current.top;
    if (Math.abs(moved) >= 1) {
      window.scrollBy({ top: moved, behavior: "instant" });
    }
  }, [change]);
}
