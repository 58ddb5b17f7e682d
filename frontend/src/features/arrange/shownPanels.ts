/** The panels that the page has now, in their order. */

import { createStore } from "../../base/store";
import type { PanelId } from "../charts/panels";

export interface ShownPanel {
  readonly id: PanelId;
  readonly title: string;
}

export const shownPanels = createStore<readonly ShownPanel[]>([]);
