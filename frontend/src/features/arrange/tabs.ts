/** The tab in the address, and the way to a panel in another one. */

import { flushSync } from "react-dom";
import { navigate, parameter, route, withParameter } from "../../base/routing";
import { createStore, type Readable } from "../../base/store";
import { type PanelId, TABS, type TabId } from "../charts/panels";

const NAME = "tab";
const FIRST: TabId = "summary";

const text = createStore<TabId>(here());
route.subscribe(() => text.set(here()));

/** The open tab: that of the address, or the first one. */
export const openTab: Readable<TabId> = text;

function here(): TabId {
  const named = parameter(NAME);
  const known = TABS.find(({ id }) => id === named);
  return named === "all" ? named : (known?.id ?? FIRST);
}

/** Address of the same page with another tab. */
export function tabHref(tab: TabId): string {
  return withParameter(NAME, tab === FIRST ? null : tab);
}

/** Whether a tab contains a panel. */
export function isIn(tab: TabId, panel: PanelId): boolean {
  const panels: readonly PanelId[] = TABS.find(({ id }) => id === tab)?.panels ?? [];
  return tab === "all" || panels.includes(panel);
}

/** Go to a panel, in its tab if the open one lacks it. Nothing if the page has no such panel. */
export function goToPanel(panel: PanelId): void {
  const tab = TABS.find(({ id }) => isIn(id, panel));
  if (tab && !isIn(text.get(), panel)) flushSync(() => navigate(tabHref(tab.id)));
  const slot = document.getElementById(`panel-${panel}`);
  slot?.scrollIntoView?.({ block: "start" });
  slot?.focus({ preventScroll: true });
}
