/**
 * Backgrounds of flame graphs: tints of the charts' hues, on which text keeps a contrast of 4.5:1
 * (checked by flamePalette.test.ts). Colour is never the only cue: names, tooltips and signs say
 * the same.
 */

import { type ChartTheme, hueStyle } from "./palette";
import { mixed } from "./raster";

/** Mixing ratio of a background with its hue. */
const TINT = { light: 0.34, dark: 0.4 } as const;
/** Mixing ratio without a hue, distinct from the background. */
const NO_HUE = { light: 0.11, dark: 0.19 } as const;

/** Background of the n-th service; the service's name is shown too. */
export function hueGround(index: number, theme: ChartTheme): string {
  const tint = theme.dark ? TINT.dark : TINT.light;
  return mixed(theme.background, hueStyle(index, theme).colour, tint);
}

/** Background without a hue: what is neither distinguished nor changed. */
export function plainGround(theme: ChartTheme): string {
  return mixed(theme.background, theme.text, theme.dark ? NO_HUE.dark : NO_HUE.light);
}

/** Kinds of frames by hue, those that meet in one program apart; a missing kind has none. */
const KIND_HUES: Readonly<Record<string, number>> = {
  native: 0,
  go: 2,
  python: 4,
  java: 1,
  v8: 5,
  ruby: 3,
  php: 6,
  perl: 7,
  dotnet: 6,
  beam: 3,
  lua: 5,
};

/** Background of a frame by its kind; the kernel and unknown kinds are grey. */
export function kindGround(kind: string, theme: ChartTheme): string {
  const hue = KIND_HUES[kind];
  return hue === undefined ? plainGround(theme) : hueGround(hue, theme);
}

const GREW = { light: "#d62728", dark: "#ff6b61" } as const;
const SHRANK = { light: "#1f6fc4", dark: "#4aa8ff" } as const;
/** Mixing ratios of the least and the greatest change. */
const CHANGE_MIX = { least: 0.25, most: 0.5 } as const;

/** Background of a change: red for growth, blue for shrinking; a sign is shown too. */
export function changeGround(change: number, most: number, theme: ChartTheme): string {
  const name = theme.dark ? "dark" : "light";
  const share = most > 0 ? Math.min(1, Math.abs(change) / most) : 0;
  if (share === 0) return plainGround(theme);
  // Small changes are visible as well.
  const mix = CHANGE_MIX.least + (CHANGE_MIX.most - CHANGE_MIX.least) * Math.sqrt(share);
  return mixed(theme.background, (change > 0 ? GREW : SHRANK)[name], mix);
}
