/** Text parts, and the minimum interval between updates of each. */

import { FACT_PARTS } from "./factViews";

/** Update interval of text parts, and minimum time between line changes, in ms. */
export const SLOW_MS = 500;
/**
 * Minimum interval of the time breakdown, in ms per thread: 5,000 busy threads take about 0.1 s of
 * CPU.
 */
const TIMES_MS = 0.25;
/** Minimum interval of the table, in ms per thread: sorting 5,000 takes some 25 ms. */
const TABLE_MS = 0.2;
/** Minimum interval of findings, in ms: costly, and slow to read. */
const FINDINGS_MS = 2000;
/**
 * Interval of an invisible chart or map without data, in ms: if data appears, its panel does too.
 */
const UNSEEN_MS = 2000;

/** Text parts in the order of computation after a changed request. */
export const PARTS = [
  "target",
  "table",
  "tiles",
  "times",
  "events",
  ...FACT_PARTS,
  "map",
  "unseen",
] as const;
export type PartName = (typeof PARTS)[number];

/** Time and source of a part's last computation. */
export interface Part {
  made_ms: number;
  /** Edition of the model that the part shows. */
  edition: number;
  /** Time since which the part is outdated by a request; null if up to date. */
  asked_ms: number | null;
}

/**
 * Minimum interval between computations of a part, in ms.
 * @param live Number of threads evaluated.
 * @param seen Whether the part is visible.
 */
export function restOf(name: PartName, live: number, seen: boolean): number {
  switch (name) {
    case "times":
      return Math.max(SLOW_MS, TIMES_MS * live);
    case "table":
      return Math.max(SLOW_MS, TABLE_MS * live);
    case "findings":
    case "change":
      return seen ? Math.max(FINDINGS_MS, TIMES_MS * live) : SLOW_MS;
    case "map":
      return seen ? SLOW_MS : UNSEEN_MS;
    case "unseen":
      return UNSEEN_MS;
    default:
      return SLOW_MS;
  }
}

/** Deep equality of requests, which arrive as copies. */
export function equal(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
