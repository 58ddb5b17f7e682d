import { createContext, type ReactNode } from "react";
import { createStore } from "../../base/store";
import { useStore } from "../../base/useStore";
import { Button } from "../../ui/Controls";
import type { Target } from "../../wire/generated/models";
import styles from "./SteerPanel.module.css";
import { type SteerState, useSteering } from "./useSteering";

/** Whether the Steer drawer is open. */
export const drawerOpen = createStore(false);

/** Steering of the visible process; null for a group, or in a run. */
export const SteerStateContext = createContext<SteerState | null>(null);

interface SteerProviderProps {
  readonly target: Target;
  readonly children: ReactNode;
}

/** Shared steering state of the drawer and the timeline's buttons: both show and undo the same. */
export function SteerProvider({ target, children }: SteerProviderProps) {
  const single = target.group == null;
  const state = useSteering(target, useStore(drawerOpen) && single);
  return <SteerStateContext value={single ? state : null}>{children}</SteerStateContext>;
}

/** Opens and closes the Steer drawer; the focus returns to this button. */
export function SteerButton() {
  const open = useStore(drawerOpen);
  return (
    <Button
      data-steer-button
      className={styles.opens ?? ""}
      aria-expanded={open}
      aria-controls="steer"
      aria-keyshortcuts="s"
      onClick={() => drawerOpen.set(!open)}
    >
      Steer
    </Button>
  );
}
