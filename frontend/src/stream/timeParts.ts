/**
 * Parts that the time of threads is cut into: states of their ledgers, or without ledgers what delay
 * accounting tells apart (breakdown.ts).
 */

import {
  PART_NAMES as DELAY_NAMES,
  PARTS as DELAY_PARTS,
  type Part as DelayPart,
} from "./breakdown";
import { cellStateName, PARKED } from "./stateCells";
import { STATES, type StateId, type ThreadState } from "./states";

/** `parked`: what of the waits for locks was for work, by the locks' kind. */
export type TimePart = DelayPart | StateId | "parked";

/** A part that is a state, or one of its kinds. */
export type StatePart = StateId | "parked";

/** From the bottom of the stack up: work first, then what waits for work by its nature. */
export const STATE_PARTS: readonly StatePart[] = [
  "on_cpu",
  "preempted",
  "woken",
  "futex",
  "file_read",
  "file_read_disk",
  "file_write",
  "file_write_disk",
  "file_sync",
  "file_sync_disk",
  "page_fault_disk",
  "page_fault",
  "socket_receive",
  "socket_send",
  "socket_connect",
  "pipe",
  "io_uring",
  "other_call",
  "other",
  "stopped",
  "child",
  "socket_accept",
  "parked",
  "poll",
  "sleep",
];

/** All, from the bottom of the stack up; of one kind or the other, and the rest on top. */
export const TIME_PARTS: readonly TimePart[] = [
  ...DELAY_PARTS.filter((part) => part !== "unsplit" && part !== "rest"),
  ...STATE_PARTS,
  "unsplit",
  "rest",
];

const BY_ID = new Map<string, ThreadState>(STATES.map((state) => [state.id, state]));

/** The state that a part is; undefined: it is none, or a kind of one. */
export function stateOf(part: TimePart): ThreadState | undefined {
  return BY_ID.get(part);
}

/** Whether a part is a state, or a kind of one. */
export function isStatePart(part: TimePart): part is StatePart {
  return part === "parked" || BY_ID.has(part);
}

/** Whether threads wait there for work by their nature. */
export function isIdle(part: TimePart): boolean {
  return part === "parked" || (BY_ID.get(part)?.idle ?? false);
}

/** Name of a part, as legends and texts give it. */
export function partName(part: TimePart): string {
  if (part === "parked") return cellStateName(PARKED);
  return BY_ID.get(part)?.name ?? DELAY_NAMES[part as DelayPart];
}

/** Parts that are not there. */
export const NO_PARTS: Readonly<Record<TimePart, number>> = Object.fromEntries(
  TIME_PARTS.map((part) => [part, Number.NaN]),
) as Record<TimePart, number>;
