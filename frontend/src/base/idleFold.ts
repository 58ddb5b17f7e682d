/** Whether idle time is folded away: a part of the address, so that a link shows the same. */

import { navigate, parameter, route, withParameter } from "./routing";
import { createStore, type Readable } from "./store";

const NAME = "idle";
const FOLDED = "folded";

const here = () => parameter(NAME) === FOLDED;
const folded = createStore(here());
route.subscribe(() => folded.set(here()));

export const idleFolded: Readable<boolean> = folded;

/** Fold it away, or show it; the rest of the address stays. */
export function foldIdle(fold: boolean): void {
  navigate(withParameter(NAME, fold ? FOLDED : null), "replace");
}
