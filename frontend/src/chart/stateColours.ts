/**
 * State colours: one per group, the same everywhere. Work is bright; waiting for work is grey;
 * parked, which may be a wait for a lock, is a dull shade of locks. Groups remain distinguishable in
 * the common forms of colour blindness (checked by palette.test.ts). Each has a contrast of at least
 * 3:1 to its background. States of one group differ in shade.
 *
 * Colours of the thread map. Lightness rises from idle to busy in the dark theme and falls in the
 * light one. The hue goes through blue, green and yellow, as in viridis. The order is therefore
 * legible with any colour vision and in grey. The idle colour differs from the background, which
 * shows where a thread does not exist.
 */

import type { StatePart } from "../stream/breakdown";
import { cellState, KINDS_OF_STATES, STATES, type StateGroup } from "../stream/states";
import { hexRgb, mixed } from "./raster";

type GroupColours = Readonly<Record<StateGroup, string>>;

const DARK: GroupColours = {
  running: "#1ceda0",
  runnable: "#ff6226",
  throttled: "#c8283c",
  locks: "#c97bd0",
  disk: "#ffd02e",
  network: "#4cc6ff",
  pipes: "#c4a4ac",
  faults: "#7a74ff",
  other: "#dbe6f2",
  parked: "#84508c",
  polling: "#7a7280",
  sleep: "#8a8b78",
};

const LIGHT: GroupColours = {
  running: "#27a02c",
  runnable: "#86281c",
  throttled: "#ff0066",
  locks: "#a72fb0",
  disk: "#946208",
  network: "#3f6af2",
  pipes: "#4a5568",
  faults: "#62129a",
  other: "#2b2530",
  parked: "#b975c0",
  polling: "#82968a",
  sleep: "#67745f",
};

/** Group of each state, and of each kind of one after these. */
const GROUPS: ReadonlyMap<StatePart, StateGroup> = new Map<StatePart, StateGroup>([
  ...STATES.map(({ id, group }) => [id, group] as const),
  ...KINDS_OF_STATES.map(({ kind, group }) => [kind, group] as const),
]);

/** Mixing ratio of each state of a group with the text colour, in order. */
const SHADES = [0, 0.3, 0.55, 0.15, 0.42, 0.65, 0.75] as const;

export function groupColours(dark: boolean): GroupColours {
  return dark ? DARK : LIGHT;
}

/** Group of a cell's state, by its number; null if none. */
export function groupNumbered(number: number): StateGroup | null {
  return cellState(number)?.group ?? null;
}

/** Colour of a part of time that is a state. */
export function stateColour(
  part: StatePart,
  { dark, text }: { readonly dark: boolean; readonly text: string },
): string {
  const group = GROUPS.get(part) ?? "other";
  const fellows = [...GROUPS].filter(([, each]) => each === group).map(([each]) => each);
  return mixed(groupColours(dark)[group], text, SHADES[fellows.indexOf(part)] ?? 0);
}

/** Distribution of values over the colours. */
export interface MapScale {
  /** Value of the last colour; larger values share it. */
  readonly top: number;
  /** Logarithmic: each decade takes a third of the colours; linear otherwise. */
  readonly log: boolean;
}

/** Decades of the logarithmic scale. */
const DECADES = 3;

const MAP_DARK = ["#38456f", "#2f6f97", "#22938b", "#4fb96b", "#a8d93f", "#fde725"] as const;
const MAP_LIGHT = ["#dbe3ea", "#a3cdb4", "#52ad9a", "#2f7f93", "#3c4f8a", "#3b0f57"] as const;

const STEPS = 256;

/** Stops for a style sheet's gradient. */
export function rampStops(dark: boolean): readonly string[] {
  return dark ? MAP_DARK : MAP_LIGHT;
}

/** Uint8[256 * 3]: red, green and blue of each step, from idle to busy. */
export function ramp(dark: boolean): Uint8Array {
  const stops = rampStops(dark).map((colour) => hexRgb(colour) ?? [0, 0, 0]);
  const out = new Uint8Array(3 * STEPS);
  for (let i = 0; i < STEPS; i++) {
    const at = (i / (STEPS - 1)) * (stops.length - 1);
    const below = Math.min(stops.length - 2, Math.floor(at));
    for (let part = 0; part < 3; part++) {
      const from = stops[below]?.[part] ?? 0;
      const to = stops[below + 1]?.[part] ?? 0;
      out[3 * i + part] = Math.round(from + (to - from) * (at - below));
    }
  }
  return out;
}

/** Step of a value, 0 to 255; the value is a number from 0 on. */
export function stepOf(value: number, { top, log }: MapScale): number {
  if (!(value > 0) || !(top > 0)) return 0;
  const share = log ? 1 + Math.log10(value / top) / DECADES : value / top;
  return Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS - 1))));
}

/** Values at positions of the scale from 0 (idle) to 1, for its labels. */
export function scaleTicks({ top, log }: MapScale): readonly { share: number; value: number }[] {
  return log
    ? Array.from({ length: DECADES + 1 }, (_, i) => ({
        share: i / DECADES,
        value: top / 10 ** (DECADES - i),
      }))
    : [0, 0.5, 1].map((share) => ({ share, value: share * top }));
}
