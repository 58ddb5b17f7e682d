import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { Button } from "./Button";
import styles from "./Dialog.module.css";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog; Esc, its button and a click outside close it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  // Runs before the dialog leaves the page; otherwise the browser would not restore the focus.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
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
        <div className={styles.body}>{children}</div>
      </div>
    </dialog>
  );
}
