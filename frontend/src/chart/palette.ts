/**
 * Line styles. Each role has a stable colour. The eight hues remain distinguishable in the common
 * forms of colour blindness, by lightness if not by hue (Okabe and Ito, "Color Universal Design").
 * Each has a contrast of at least 3:1 to its background. Hues repeat beyond eight, mixed with the
 * text colour. Roles also differ in marker, and the two lines of a pair in dash: colour is never
 * the only cue.
 */

import type { Theme } from "../base/theme";
import { isStatePart, type Part, type TimePart } from "../stream/breakdown";
import { SHADES } from "../stream/roleHues";
import type { ChartId } from "../stream/viewRequest";
import type { LineView } from "../stream/views";
import { mixed } from "./raster";
import { stateColour } from "./stateColours";

/** Colours of a theme, from the style sheet's custom properties or given directly. */
export interface ChartTheme {
  readonly dark: boolean;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly background: string;
  readonly crosshair: string;
  readonly font: string;
  /** Read (red in the thesis' figures) and written (green), legible on `background`. */
  readonly read: string;
  readonly written: string;
  readonly others: string;
}

/** Drawing style of a line. */
export interface LineStyle {
  readonly colour: string;
  /** Dash pattern in pixels; [] is solid. Distinguishes the two variants. */
  readonly dash: readonly number[];
  readonly width: number;
  /** Drawn at the line's right end, so that colour is not the only cue. */
  readonly marker: "circle" | "square" | "triangle" | "diamond" | "cross" | "none";
  /** Opacity of a band, 0 to 1; undefined for a line. */
  readonly fill?: number;
}

const LIGHT = [
  "#1c86dd",
  "#9c2f06",
  "#00594a",
  "#e0479f",
  "#a86c00",
  "#7f9a3a",
  "#5b3fd6",
  "#5a6570",
] as const;

const DARK = [
  "#4aa0f5",
  "#d2521c",
  "#159a80",
  "#f56fbd",
  "#ffbe3d",
  "#8fae2a",
  "#9a5cf5",
  "#c0c8d2",
] as const;

const MARKERS = ["circle", "square", "triangle", "diamond", "cross"] as const;

/**
 * Mixing ratio of each shade with the text colour, which never lowers the contrast; one per entry
 * of `SHADES` (stream/threads.ts).
 */
const SHADE_MIX = [0, 0.3, 0.6] as const;

/** Mixing ratio for each further round through the hues. */
const ROUND_MIX = 0.45;

const SOLID: readonly number[] = [];
const SECOND: readonly number[] = [5, 3];

/** Light and dark themes, for pages without their own. */
export const LIGHT_CHART_THEME: ChartTheme = {
  dark: false,
  text: "#1f2328",
  muted: "#59636e",
  grid: "#d1d9e0",
  background: "#ffffff",
  crosshair: "#59636e",
  font: "system-ui, sans-serif",
  read: "#c1121f",
  written: "#1a7f37",
  others: "#818b98",
};

export const DARK_CHART_THEME: ChartTheme = {
  dark: true,
  text: "#e6edf3",
  muted: "#9198a1",
  grid: "#30363d",
  background: "#0d1117",
  crosshair: "#9198a1",
  font: "system-ui, sans-serif",
  read: "#ff7b72",
  written: "#3fb950",
  others: "#7d8590",
};

/**
 * Hue of each part of time, as an index into the palette; null for the remainder. Bands also differ
 * by order and gaps, and the remainder by stripes.
 */
const PART_HUES: Readonly<Record<Part, number | null>> = {
  cpu: 2,
  queue: 1,
  blkio: 0,
  swapin: 6,
  memory: 3,
  irq: 4,
  unsplit: null,
  rest: null,
};

/** Drawing style of a part of time: colour, opacity and stripes. */
export interface PartStyle {
  readonly colour: string;
  readonly opacity: number;
  readonly striped: boolean;
}

export function partStyle(part: TimePart, theme: ChartTheme): PartStyle {
  if (isStatePart(part)) return { colour: stateColour(part, theme), opacity: 0.92, striped: false };
  const hue = PART_HUES[part];
  const colour = hue === null ? undefined : (theme.dark ? DARK : LIGHT)[hue];
  return {
    colour: colour ?? theme.others,
    opacity: colour === undefined ? 0.28 : 0.88,
    striped: part === "unsplit",
  };
}

/** Style of a thread or role by its colour (`threadColour`, `roleColour` of stream/threads.ts). */
export function colourStyle(colour: number, theme: ChartTheme): LineStyle {
  const style = hueStyle(Math.floor(colour / SHADES), theme);
  const mix = SHADE_MIX[colour % SHADES] ?? 0;
  return { ...style, colour: mixed(style.colour, theme.text, mix) };
}

/** Style of the n-th item distinguished by hue and marker. */
export function hueStyle(index: number, theme: ChartTheme): LineStyle {
  const colours = theme.dark ? DARK : LIGHT;
  const hue = colours[index % colours.length] ?? theme.others;
  const again = index < colours.length ? 0 : ROUND_MIX;
  return {
    colour: mixed(hue, theme.text, again),
    dash: SOLID,
    width: 1.5,
    // Eight and five are coprime: forty combinations are distinct.
    marker: MARKERS[index % MARKERS.length] ?? "circle",
  };
}

/** Colour of a policy's band, the same everywhere; the band also shows the policy's name. */
export function policyColour(policy: string, theme: ChartTheme): string {
  const colours = theme.dark ? DARK : LIGHT;
  let sum = 0;
  for (const letter of policy) sum = (31 * sum + (letter.codePointAt(0) ?? 0)) % 9973;
  // Not the last: it is the grey of the remainder.
  return colours[sum % (colours.length - 1)] ?? theme.others;
}

/** Opacity of spread bands and stacked bands: no text is drawn on either. */
const SPREAD_FILL = { range: 0.18, quartiles: 0.36 } as const;
const STACK_FILL = 0.62;

export function stackStyle(line: LineView, chart: ChartId, theme: ChartTheme): LineStyle {
  const style = lineStyle(line, chart, theme);
  return { ...style, dash: SOLID, width: 1, marker: "none", fill: STACK_FILL };
}

export function lineStyle(line: LineView, chart: ChartId, theme: ChartTheme): LineStyle {
  if (line.part !== undefined) {
    const { colour } = partStyle(line.part, theme);
    return { colour, dash: SOLID, width: 8, marker: "none" };
  }
  const dash = line.variant === 1 ? SECOND : SOLID;
  const base = colourStyle(line.colour, theme);
  if (line.spread === "range" || line.spread === "quartiles") {
    return { ...base, width: 1, marker: "none", fill: SPREAD_FILL[line.spread] };
  }
  if (line.spread === "median") return { ...base, width: 2, marker: "none" };
  const width = line.selected ? 3 : line.pinned ? 2 : base.width;
  const bytes = chart === "disk" || chart === "network" || chart === "network_calls";
  if (line.kind === "others") {
    const colour = bytes ? bytesColour(line, theme) : theme.others;
    return { colour, dash: line.variant === 1 ? [2, 4] : [6, 3], width: 1.25, marker: "none" };
  }
  if (bytes) return { ...base, colour: bytesColour(line, theme), dash, width };
  // A line of one process of a group has its process's colour.
  if (line.kind === "process" && line.pid === undefined) {
    const colour = line.variant === 1 ? theme.muted : theme.text;
    return { ...base, colour, dash, width: 2, marker: "none" };
  }
  return { ...base, dash, width };
}

function bytesColour(line: LineView, theme: ChartTheme): string {
  return line.variant === 0 ? theme.read : theme.written;
}

/** The charts' own colours on the backgrounds of styles/tokens.css. */
export const CHART_THEMES: Readonly<Record<Theme, ChartTheme>> = {
  light: {
    ...LIGHT_CHART_THEME,
    text: "#14191b",
    muted: "#566266",
    grid: "#e3e8e9",
    background: "#ffffff",
    crosshair: "#7d898d",
  },
  dark: {
    ...DARK_CHART_THEME,
    text: "#d8dfe1",
    muted: "#8d9ba0",
    grid: "#1d2427",
    background: "#0f1213",
    crosshair: "#66747a",
  },
};
