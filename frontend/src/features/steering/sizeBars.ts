/** The bars of operations a second by size. Pure. */

import { formatDifference } from "../../stream/format";
import type { SizeTried } from "../../stream/steerView";

/** One bar. */
export interface Bar extends SizeTried {
  /** Length as a share of the longest, 0 to 1. */
  readonly share: number;
  readonly best: boolean;
  readonly current: boolean;
  /** Difference to the best as a share of it, at most 0. */
  readonly behind: number;
}

/** Bars of the sizes tried, smallest size first; ties for the best go to the smaller size. */
export function sizeBars(tried: readonly SizeTried[], size: number | null): readonly Bar[] {
  const most = Math.max(0, ...tried.map(({ rate }) => rate));
  const best = tried.find(({ rate }) => rate === most)?.size;
  return tried.map((each) => ({
    ...each,
    share: most > 0 ? each.rate / most : 0,
    best: each.size === best,
    current: each.size === size,
    behind: most > 0 ? each.rate / most - 1 : 0,
  }));
}

/** What stands behind a bar: "best", or how far it is behind. */
export function behindBestText({ best, behind }: Bar): string {
  if (best) return "best";
  return Math.abs(behind) < 0.0005 ? "same" : formatDifference(100 * behind);
}
