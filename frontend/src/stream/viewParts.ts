/** Text parts, and the minimum interval between updates of each. */

import { FACT_PARTS } from "./factViews";

/** Update interval of text parts, and minimum time between line changes, in ms. */
export const SLOW_MS = 500;
/**
 * Where the time goes looks at every thread: 5,000 busy ones take about a tenth of a second of CPU. So
 * long a thread must lie between two looks.
 */
const TIMES_MS = 0.25;
/** The table sorts all threads at once: 5,000 take some 25 ms. */
const TABLE_MS = 0.2;
/** Findings look at every thread too, and are sentences: they are read slowly. */
const FINDINGS_MS = 2000;
/** A chart or map out of view with nothing to show: that may change, and its panel with it. */
const UNSEEN_MS = 2000;

/** What is read, in the order in which it is made when the request changed. */
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

/** When a part was made, and of what. */
export interface Part {
  made_ms: number;
  /** State of the model that it shows. */
  edition: number;
  /** Since when it is not what is asked for; null: it is. */
  asked_ms: number | null;
}

/**
 * From one making of a part to the next, ms, while what it shows changes.
 *
 * @param live Threads that are looked at.
 * @param seen Whether somebody sees what it shows.
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
