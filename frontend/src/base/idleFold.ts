/** Whether idle time is folded away: a part of the address, so that a link shows the same. */

import { navigate, route } from "./routing";
import { createStore, type Readable } from "./store";

const NAME = "idle";
const FOLDED = "folded";

const here = () => new URLSearchParams(window.location.search).get(NAME) === FOLDED;
const folded = createStore(here());
route.subscribe(() => folded.set(here()));

export const idleFolded: Readable<boolean> = folded;

/** Fold it away, or show it; the rest of the address stays. */
export function foldIdle(fold: boolean): void {
  const { pathname, search } = window.location;
  const parameters = new URLSearchParams(search);
  if (fold) {
    parameters.set(NAME, FOLDED);
  } else {
    parameters.delete(NAME);
  }
  const query = parameters.toString();
  navigate(query === "" ? pathname : `${pathname}?${query}`, "replace");
}
