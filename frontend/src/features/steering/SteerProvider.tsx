import { createContext, type ReactNode } from "react";
import { useStore } from "../../base/useStore";
import type { Target } from "../../wire/generated/models";
import { drawerOpen } from "./drawer";
import { type SteerState, useSteering } from "./useSteering";

/** The steering of the process that is shown; null: of a group, or in a run. */
export const SteerStateContext = createContext<SteerState | null>(null);

interface SteerProviderProps {
  readonly target: Target;
  readonly children: ReactNode;
}

/** One steering for the drawer and for the buttons on the timeline: both say and undo the same. */
export function SteerProvider({ target, children }: SteerProviderProps) {
  const single = target.group == null;
  const state = useSteering(target, useStore(drawerOpen) && single);
  return <SteerStateContext value={single ? state : null}>{children}</SteerStateContext>;
}
