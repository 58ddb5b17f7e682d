import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "./Button";
import styles from "./Popover.module.css";

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
