/**
 * State colours: one per group, the same everywhere. Work is bright; waiting for work is grey.
 * Groups remain distinguishable in the common forms of colour blindness (checked by
 * palette.test.ts). Each has a contrast of at least 3:1 to its background. States of one group
 * differ in shade.
 */

import { type StatePart, stateOf } from "../stream/breakdown";
import { PARKED, STATES, type StateGroup, stateNumbered } from "../stream/states";
import { mixed } from "./rgb";

type GroupColours = Readonly<Record<StateGroup, string>>;

const DARK: GroupColours = {
  running: "#1ceda0",
  runnable: "#ff6226",
  locks: "#c97bd0",
  disk: "#ffd02e",
  network: "#4cc6ff",
  pipes: "#c4a4ac",
  faults: "#7a74ff",
  other: "#dbe6f2",
  parked: "#5a665c",
  polling: "#7a7280",
  sleep: "#8a8b78",
};

const LIGHT: GroupColours = {
  running: "#27a02c",
  runnable: "#86281c",
  locks: "#a72fb0",
  disk: "#946208",
  network: "#3f6af2",
  pipes: "#4a5568",
  faults: "#62129a",
  other: "#2b2530",
  parked: "#8a7f98",
  polling: "#82968a",
  sleep: "#67745f",
};

/** Mixing ratio of each state of a group with the text colour, in order. */
const SHADES = [0, 0.3, 0.55, 0.15, 0.42, 0.65, 0.75] as const;

export function groupColours(dark: boolean): GroupColours {
  return dark ? DARK : LIGHT;
}

/** Group of a cell's state, by its number; null if none. */
export function groupNumbered(number: number): StateGroup | null {
  return number === PARKED ? "parked" : (stateNumbered(number)?.group ?? null);
}

/** Colour of a part of time that is a state. */
export function stateColour(
  part: StatePart,
  { dark, text }: { readonly dark: boolean; readonly text: string },
): string {
  const state = stateOf(part);
  if (!state) return groupColours(dark).parked;
  const fellows = STATES.filter(({ group }) => group === state.group);
  return mixed(groupColours(dark)[state.group], text, SHADES[fellows.indexOf(state)] ?? 0);
}
