/**
 * The arrangement of panels: stored by the browser, and part of the address if not the default. The
 * panels of the current page, in all tabs.
 */

import { navigate, parameter, route, withParameter } from "../../base/routing";
import { createStore, type Readable } from "../../base/store";
import type { PanelId } from "../charts/panels";

export interface ShownPanel {
  readonly id: PanelId;
  readonly title: string;
}

export const shownPanels = createStore<readonly ShownPanel[]>([]);

const KEY = "tidscope.panels";
const NAME = "panels";

const text = createStore(parameter(NAME) ?? kept());
// An address without an arrangement changes nothing.
route.subscribe(() => text.set(parameter(NAME) ?? text.get()));

/** Text of the arrangement; see `arrange`. */
export const arrangement: Readable<string> = text;

/** Set the arrangement; "" for the default. */
export function keepArrangement(next: string): void {
  if (next === "") window.localStorage.removeItem(KEY);
  else window.localStorage.setItem(KEY, next);
  text.set(next);
  navigate(withParameter(NAME, next === "" ? null : next), "replace");
}

/** Put the arrangement into the address, so that it can be shared. */
export function putIntoAddress(): void {
  const now = text.get();
  if (now !== "" && parameter(NAME) === null) navigate(withParameter(NAME, now), "replace");
}

function kept(): string {
  return window.localStorage.getItem(KEY) ?? "";
}
