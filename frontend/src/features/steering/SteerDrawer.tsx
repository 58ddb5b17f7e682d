/**
 * Feature `steering`: a target and its steering view in, steering requests and pictures out. It
 * must not decide sizes: the backend's policies do.
 */

import { memo, type RefObject, use, useEffect, useRef } from "react";
import { useMedia, useStore } from "../../base/useStore";
import { targetName } from "../../stream/targetName";
import { Button } from "../../ui/Controls";
import type { Target } from "../../wire/generated/models";
import styles from "./CoreDivisions.module.css";
import { GroupSteerPanel } from "./GroupSteerPanel";
import { SteerPanel } from "./SteerPanel";
import { drawerOpen, SteerStateContext } from "./SteerProvider";
import { useGroupSteering } from "./useSteering";

/** Media query for narrow pages, where the drawer covers the charts and traps the focus. */
const OVER = "(width <= 1199px)";

/** The drawer that steers a target. Typed text is kept while closed. */
export const SteerDrawer = memo(function SteerDrawer({ target }: { readonly target: Target }) {
  const open = useStore(drawerOpen);
  const over = useMedia(OVER);
  const element = useRef<HTMLDialogElement>(null);
  const state = use(SteerStateContext);
  const ofGroup = useGroupSteering(target, open && state === null);
  const { pending } = state ?? ofGroup;

  useEffect(() => {
    const dialog = element.current;
    if (!open || dialog === null) {
      return;
    }
    const before = document.activeElement;
    if (over) {
      dialog.showModal();
    } else {
      dialog.show();
    }
    // Focus the dialog, not its first button, which would close it again.
    dialog.focus();
    const onKey = (event: KeyboardEvent) => {
      const at = event.target;
      const here = at === document.body || (at instanceof Node && dialog.contains(at));
      const other = document.querySelector("dialog:modal");
      if (event.key === "Escape" && here && (other === null || other === dialog)) {
        drawerOpen.set(false);
      }
    };
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("keydown", onKey);
      dialog.close();
      const known = before instanceof HTMLElement && before.isConnected && before !== document.body;
      const button = document.querySelector<HTMLElement>("[data-steer-button]");
      (known && !dialog.contains(before) ? before : button)?.focus();
    };
  }, [open, over]);
  useEffect(() => () => drawerOpen.set(false), []);
  useKeptFocus(element, open);

  return (
    <dialog
      ref={element}
      id="steer"
      tabIndex={-1}
      className={`surface ${styles.drawer}`}
      aria-label="Steer"
      data-over={over}
      onCancel={() => drawerOpen.set(false)}
    >
      <header className={styles.drawerHead}>
        <h2>Steer</h2>
        <span className={styles.sub}>{targetName(target)}</span>
        <span className={styles.pending} role="status">
          {pending?.text ?? ""}
        </span>
        <Button variant="quiet" onClick={() => drawerOpen.set(false)} aria-label="Close">
          ×
        </Button>
      </header>
      {open ? (
        <div className={styles.body}>
          {state === null ? (
            <GroupSteerPanel state={ofGroup} />
          ) : (
            <SteerPanel target={target} state={state} />
          )}
        </div>
      ) : null}
    </dialog>
  );
});

/** Keep the focus in the drawer when the focused element disappears, such as a finished button. */
function useKeptFocus(element: RefObject<HTMLDialogElement | null>, open: boolean): void {
  const inside = useRef(false);
  useEffect(() => {
    const note = (event: Event) => {
      const at = event.target;
      inside.current = at instanceof Node && element.current?.contains(at) === true;
    };
    document.addEventListener("focusin", note);
    document.addEventListener("pointerdown", note);
    return () => {
      document.removeEventListener("focusin", note);
      document.removeEventListener("pointerdown", note);
    };
  }, [element]);
  useEffect(() => {
    if (open && inside.current && document.activeElement === document.body) {
      element.current?.focus({ preventScroll: true });
    }
  });
}
