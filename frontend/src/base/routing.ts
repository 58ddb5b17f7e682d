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
