import { useEffect } from "react";
import { dismiss, type Toast, toasts } from "../base/toasts";
import { useStore } from "../base/useStore";
import { Button } from "../ui/Button";
import { StatusIcon } from "../ui/StatusIcon";
import styles from "./Toasts.module.css";

/** Long enough to read it and to think of pressing Undo. */
const STAYS_MS = 20_000;

/** Notices that came up, the newest last. */
export function Toasts() {
  const all = useStore(toasts);
  return (
    <section className={styles.toasts} aria-label="Notifications" aria-live="polite">
      {all.map((each) => (
        <OneToast key={each.id} toast={each} />
      ))}
    </section>
  );
}

function OneToast({ toast }: { readonly toast: Toast }) {
  const { id, action } = toast;
  useEffect(() => {
    const timer = window.setTimeout(() => dismiss(id), STAYS_MS);
    return () => window.clearTimeout(timer);
  }, [id]);
  return (
    <div className={`popup ${styles.toast}`} data-kind={toast.kind}>
      <StatusIcon status={toast.kind === "error" ? "error" : "ok"} />
      <p className={styles.text}>{toast.text}</p>
      {action === null ? null : (
        <Button
          onClick={() => {
            dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <Button look="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
        ×
      </Button>
    </div>
  );
}
