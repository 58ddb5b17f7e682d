/** Whether idle time is folded away. Part of the address, so that a link shows the same view. */

import { navigate, parameter, route, withParameter } from "./routing";
import { createStore, type Readable } from "./store";

const NAME = "idle";
const FOLDED = "folded";

const here = () => parameter(NAME) === FOLDED;
const folded = createStore(here());
route.subscribe(() => folded.set(here()));

export const idleFolded: Readable<boolean> = folded;

/** Fold idle time away, or show it; the rest of the address is kept. */
export function foldIdle(fold: boolean): void {
  navigate(withParameter(NAME, fold ? FOLDED : null), "replace");
}
