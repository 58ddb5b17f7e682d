/** The arrangement of panels: kept by the browser, and a part of the address where it is unusual. */

import { navigate, parameter, route, withParameter } from "../../base/routing";
import { createStore, type Readable } from "../../base/store";

const KEY = "tidscope.panels";
const NAME = "panels";

const text = createStore(parameter(NAME) ?? kept());
// An address that says nothing of it changes nothing.
route.subscribe(() => text.set(parameter(NAME) ?? text.get()));

/** See `arrange` for what it says. */
export const arrangement: Readable<string> = text;

/** Arrange panels so from now on; "": as usual. */
export function keepArrangement(next: string): void {
  if (next === "") window.localStorage.removeItem(KEY);
  else window.localStorage.setItem(KEY, next);
  text.set(next);
  navigate(withParameter(NAME, next === "" ? null : next), "replace");
}

/** Have the address say it, so that it can be passed on. */
export function putIntoAddress(): void {
  const now = text.get();
  if (now !== "" && parameter(NAME) === null) navigate(withParameter(NAME, now), "replace");
}

function kept(): string {
  return window.localStorage.getItem(KEY) ?? "";
}
