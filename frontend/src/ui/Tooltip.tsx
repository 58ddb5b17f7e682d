import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import styles from "./Tooltip.module.css";

interface TooltipProps {
  /** Content of the tooltip; null for none. */
  readonly text: ReactNode;
  readonly children: ReactNode;
  readonly className?: string | undefined;
}

const WIDTH_PX = 300;

/**
 * Tooltip for the hovered or focused element. Rendered at the end of the body, so that nothing
 * clips it.
 */
export function Tooltip({ text, children, className }: TooltipProps) {
  const [at, setAt] = useState<DOMRect | null>(null);
  const id = useId();
  const anchor = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const element = anchor.current;
    const show = () => setAt(element?.getBoundingClientRect() ?? null);
    const hide = () => setAt(null);
    const listening = new AbortController();
    const { signal } = listening;
    element?.addEventListener("pointerenter", show, { signal });
    element?.addEventListener("pointerleave", hide, { signal });
    element?.addEventListener("focusin", show, { signal });
    element?.addEventListener("focusout", hide, { signal });
    window.addEventListener("scroll", hide, { signal, capture: true, passive: true });
    return () => listening.abort();
  }, []);
  const shown = at !== null && text !== null;
  return (
    <span ref={anchor} className={className} aria-describedby={shown ? id : undefined}>
      {children}
      {shown
        ? createPortal(
            <span id={id} role="tooltip" className={`popup ${styles.tip}`} style={placeAt(at)}>
              {text}
            </span>,
            document.body,
          )
        : null}
    </span>
  );
}

function placeAt(anchor: DOMRect): {
  left: number;
  maxWidth: number;
  top?: number;
  bottom?: number;
} {
  const width = Math.min(WIDTH_PX, window.innerWidth - 16);
  const left = Math.max(8, Math.min(anchor.left, window.innerWidth - width - 8));
  const below = anchor.bottom + 160 < window.innerHeight;
  return below
    ? { left, maxWidth: width, top: anchor.bottom + 6 }
    : { left, maxWidth: width, bottom: window.innerHeight - anchor.top + 6 };
}
