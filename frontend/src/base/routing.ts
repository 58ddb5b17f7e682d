/** The address of the page, as a store. */

import { parseRoute, type Route } from "./route";
import { createStore } from "./store";

const here = () => parseRoute(window.location.pathname, window.location.search);

export const route = createStore<Route>(here());

window.addEventListener("popstate", () => route.set(here()));

/** Go to an address of this page. */
export function navigate(href: string, how: "push" | "replace" = "push"): void {
  if (how === "push") {
    window.history.pushState(null, "", href);
  } else {
    window.history.replaceState(null, "", href);
  }
  route.set(here());
}

/** Return a parameter of the address, or null if missing. */
export function parameter(name: string): string | null {
  return new URLSearchParams(window.location.search).get(name);
}

/** Return the address with a parameter set, or removed if null. Other parameters are kept. */
export function withParameter(name: string, value: string | null): string {
  const { pathname, search } = window.location;
  const parameters = new URLSearchParams(search);
  if (value === null) parameters.delete(name);
  else parameters.set(name, value);
  const query = parameters.toString();
  return query === "" ? pathname : `${pathname}?${query}`;
}
