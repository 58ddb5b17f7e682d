/** Marks of a run. Pure. */

import type { Span } from "../../model/window";
import type { RunMark } from "../../wire/generated/models";

/** A jump shows no more than so much around a mark. */
const MOST_S = 20;

/** By time, as the manifest wants them. */
export function sortedMarks(marks: readonly RunMark[]): RunMark[] {
  return [...marks].sort((a, b) => a.time_ns - b.time_ns);
}

/** A window with a moment in its middle, as long as the one before unless that is long. */
export function around(t_s: number, { t0_s, t1_s }: Span): Span {
  const half = Math.min(MOST_S, t1_s - t0_s) / 2;
  return { t0_s: t_s - half, t1_s: t_s + half };
}
