/** The currently visible panels, in order. */

import { createStore } from "../../base/store";
import type { PanelId } from "../charts/panels";

export interface ShownPanel {
  readonly id: PanelId;
  readonly title: string;
}

export const shownPanels = createStore<readonly ShownPanel[]>([]);
