/** Colours of services and of changes, as grounds that text is read on. Pure. */

import { type ChartTheme, hueStyle } from "../../chart/palette";
import { mixed } from "../../chart/rgb";

/** How far a ground is mixed with its hue: text keeps a contrast of 4.5:1 on it. */
const TINT = { light: 0.34, dark: 0.4 } as const;

/** Ground of a service; its name stands on it as well. */
export function serviceGround(index: number, theme: ChartTheme): string {
  const tint = theme.dark ? TINT.dark : TINT.light;
  return mixed(theme.background, hueStyle(index, theme).colour, tint);
}

const GREW = { light: "#d62728", dark: "#ff6b61" } as const;
const SHRANK = { light: "#1f6fc4", dark: "#4aa8ff" } as const;
/** Ground of the greatest change. */
const MOST = 0.55;
/** What did not change differs from the ground all the same. */
const NO_CHANGE = 0.08;

/** Ground of a change: red grew, blue shrank; its sign stands on it as well. */
export function changeGround(change: number, most: number, theme: ChartTheme): string {
  const name = theme.dark ? "dark" : "light";
  const share = most > 0 ? Math.min(1, Math.abs(change) / most) : 0;
  const still = mixed(theme.background, theme.text, NO_CHANGE);
  if (share === 0) return still;
  // Small changes are seen as well.
  return mixed(still, (change > 0 ? GREW : SHRANK)[name], MOST * Math.sqrt(share));
}
