/**
 * Whether processes outside the target are summed by their names. Part of the address, so that a
 * link shows the same view.
 */

import { navigate, parameter, route, withParameter } from "./routing";
import { createStore, type Readable } from "./store";

const NAME = "others";
const PROGRAMS = "programs";

const here = () => parameter(NAME) === PROGRAMS;
const summed = createStore(here());
route.subscribe(() => summed.set(here()));

export const byProgram: Readable<boolean> = summed;

/** Sum processes by name, or tell them apart; the rest of the address is kept. */
export function sumByProgram(sum: boolean): void {
  navigate(withParameter(NAME, sum ? PROGRAMS : null), "replace");
}
