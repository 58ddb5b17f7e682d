/** Cells of the thread map that show states: the dominating one, and how the time was shared. */

import { STATES, stateNumbered } from "./states";

/** Number of "parked" in cells, after those of the states. */
export const PARKED = STATES.length + 1;
/** Numbers that cells may have, and 0. */
export const CELL_STATES = PARKED + 1;

/** Name of a cell's state. */
export function cellStateName(number: number): string {
  return number === PARKED
    ? "Parked, idle in its runtime (futex)"
    : (stateNumbered(number)?.name ?? "");
}

/** A state's share of the time of a cell. */
export interface StateShare {
  /** Number of the state; PARKED is one more than the last. */
  readonly number: number;
  /** From 0 to 1, in whole percents. */
  readonly share: number;
}

/** What a cell holds beside its dominating state. */
interface CellParts {
  /** Shares of the dominating state, the second and the third, 0 to 1; 0: there is none. */
  readonly shares: readonly [number, number, number];
  readonly second: number;
  readonly third: number;
  /** The threads had not been switched since attach: what they did is what /proc said. */
  readonly unswitched: boolean;
}

const SHARE_BITS = 7;
const STATE_BITS = 5;
const SECOND = 3 * SHARE_BITS;
const THIRD = SECOND + STATE_BITS;
const MARK = THIRD + STATE_BITS;

/** As one number. */
export function packCell({ shares, second, third, unswitched }: CellParts): number {
  const [a, b, c] = shares.map((share) => Math.round(100 * share));
  const percents = (a ?? 0) | ((b ?? 0) << SHARE_BITS) | ((c ?? 0) << (2 * SHARE_BITS));
  const states = (second << SECOND) | (third << THIRD);
  return (percents | states | (unswitched ? 1 << MARK : 0)) >>> 0;
}

/** Shares of a cell's states, largest first, those of half a percent and more. */
export function sharesOfCell(dominating: number, cell: number): readonly StateShare[] {
  const percent = (place: number) => ((cell >>> (place * SHARE_BITS)) & 127) / 100;
  const state = (place: number) => (cell >>> place) & 31;
  return [
    { number: dominating, share: percent(0) },
    { number: state(SECOND), share: percent(1) },
    { number: state(THIRD), share: percent(2) },
  ].filter(({ number, share }) => number > 0 && share > 0);
}

/** Whether the threads of a cell had not been switched since attach. */
export function isUnswitched(cell: number): boolean {
  return cell >>> MARK === 1;
}
