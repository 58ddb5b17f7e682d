import { createContext, type ReactNode } from "react";

/** What a panel is given by the place that it stands in. */
export interface PanelSlot {
  /** It has the room to show more. */
  readonly large: boolean;
  /** What stands before its heading, and at the far end of its head. */
  readonly fold: ReactNode;
  readonly tools: ReactNode;
}

/** Null: it stands by itself. */
export const PanelSlotContext = createContext<PanelSlot | null>(null);
