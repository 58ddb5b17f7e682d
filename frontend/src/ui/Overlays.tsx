import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Button } from "./Controls";
import styles from "./Overlays.module.css";

/** Components drawn above the page: dialogs, popovers and tooltips. */

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog; Esc, its button and a click outside close it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  // Runs before the dialog leaves the page; otherwise the browser would not restore the focus.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Content that scrolls has to be reached by keyboard.
    const content = body.current;
    if (content !== null && content.scrollHeight > content.clientHeight) content.tabIndex = 0;
    return () => dialog?.close();
  }, []);
  useEffect(() => {
    const dialog = element.current;
    const closeBeside = (event: MouseEvent) => {
      if (event.target === dialog) {
        onClose();
      }
    };
    dialog?.addEventListener("click", closeBeside);
    return () => dialog?.removeEventListener("click", closeBeside);
  }, [onClose]);
  return (
    <dialog
      ref={element}
      className={`popup ${styles.dialog}`}
      aria-label={title}
      onCancel={onClose}
    >
      <div className={styles.inside}>
        <header className={styles.head}>
          <h2>{title}</h2>
          <Button variant="quiet" onClick={onClose} aria-label="Close">
            ×
          </Button>
        </header>
        <div ref={body} className={styles.body}>
          {children}
        </div>
      </div>
    </dialog>
  );
}

interface PopoverProps {
  /** Content of the button. */
  readonly face: ReactNode;
  /** Name of the panel, and of the button if its content has no text. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A button that opens a panel below; Esc and a press outside close the panel. */
export function Popover({ face, label, children }: PopoverProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) {
      return;
    }
    const onPress = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) {
        setOpen(false);
      }
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        setOpen(false);
        root.current?.querySelector("button")?.focus();
      }
    };
    window.addEventListener("pointerdown", onPress);
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("pointerdown", onPress);
      window.removeEventListener("keydown", onKey);
    };
  }, [open]);
  return (
    <div ref={root} className={styles.root}>
      <Button aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        {face}
      </Button>
      {open ? (
        <section id={id} className={`popup ${styles.panel}`} aria-label={label}>
          {children}
        </section>
      ) : null}
    </div>
  );
}

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

/** A name and value, with optional details on request. */
export type Fact = readonly [name: string, value: string, tip: ReactNode];

/** List of facts in a header, by name. */
export function FactList({
  facts,
  className,
}: {
  readonly facts: readonly Fact[];
  readonly className: string | undefined;
}) {
  return (
    <dl className={className}>
      {facts.map(([name, value, tip]) => (
        <div key={name} data-fact={name}>
          <dt>{name}</dt>
          <dd>
            <Tooltip text={tip}>{value}</Tooltip>
          </dd>
        </div>
      ))}
    </dl>
  );
}
