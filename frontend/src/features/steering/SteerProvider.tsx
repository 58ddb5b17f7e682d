import { createContext, type ReactNode } from "react";
import { useStore } from "../../base/useStore";
import type { Target } from "../../wire/generated/models";
import { drawerOpen } from "./drawer";
import { type SteerState, useSteering } from "./useSteering";

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
