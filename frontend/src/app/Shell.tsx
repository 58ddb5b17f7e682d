/** Parts around every page: keyboard help, toasts, and the boundary for errors. */

import { Component, type ReactNode, useEffect } from "react";
import { asProblem } from "../api/http";
import { KEY_HELP } from "../base/keyboard";
import { dismiss, type Toast, toasts } from "../base/toasts";
import { useStore } from "../base/useStore";
import { Button } from "../ui/Controls";
import { ProblemNotice, StatusIcon } from "../ui/Notices";
import { Dialog } from "../ui/Overlays";
import type { Problem } from "../wire/generated/models";
import styles from "./App.module.css";

/** Overlay that lists the keyboard shortcuts. */
export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className={styles.keys}>
        {KEY_HELP.map(([keys, does]) => (
          <div key={does} className={styles.line}>
            <dt className={styles.press}>
              {keys.map((key) => (
                <kbd key={key} className={styles.key}>
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** Display time of a toast, in ms: long enough to read it and press Undo. */
const STAYS_MS = 20_000;

/** Open toasts, newest last. */
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
      <Button variant="quiet" aria-label="Dismiss" onClick={() => dismiss(id)}>
        ×
      </Button>
    </div>
  );
}

interface State {
  readonly problem: Problem | null;
}

/**
 * Boundary for render errors: an error is shown in place of the page, and the top bar still works.
 */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { problem: null };

  static getDerivedStateFromError(error: unknown): State {
    return { problem: asProblem(error) };
  }

  override render(): ReactNode {
    const { problem } = this.state;
    return problem === null ? (
      this.props.children
    ) : (
      <ProblemNotice
        problem={problem}
        actions={<Button onClick={() => window.location.reload()}>Reload</Button>}
      />
    );
  }
}
