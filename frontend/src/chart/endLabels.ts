/** Labels at the ends of lines: where each wants to be, and where it can be without covering others. */

import type { ChartView, LineView } from "../stream/views";
import { firstFrom, type Plot, xOf, yOf } from "./plot";

/** A line that ends further left has ended before the others. */
const LATE_PX = 12;

/**
 * Where a line ends at the right edge, CSS pixels from the top: the middle of a band that adds to
 * others, the upper edge of another band; null: it ends before, or has no value.
 *
 * @param index Which of the view's lines.
 */
export function endAt(view: ChartView, index: number, plot: Plot): number | null {
  const { columns, time_s, low, high, stacked } = view;
  const newest = Math.min(columns, firstFrom(view, plot.t1_s + 1e-9)) - 1;
  const edge = xOf(plot, time_s[newest] ?? Number.NaN) - LATE_PX;
  for (let c = newest; c >= 0 && xOf(plot, time_s[c] ?? 0) >= edge; c--) {
    const top = high[index * columns + c] ?? Number.NaN;
    if (Number.isNaN(top)) continue;
    const foot = low[index * columns + c] ?? top;
    const y = yOf(plot, stacked ? (top + foot) / 2 : top);
    return Math.min(plot.top + plot.height, Math.max(plot.top, y));
  }
  return null;
}

/** Ends of some lines of a view, in their order; null unless each of them has one. */
export function endsOf(
  view: ChartView,
  lines: readonly LineView[],
  plot: Plot,
): readonly number[] | null {
  const ends = lines.flatMap((line) => endAt(view, view.lines.indexOf(line), plot) ?? []);
  return ends.length === lines.length ? ends : null;
}

/**
 * Places of labels that keep their order and a distance, as near as can be to where they want to be
 * (least squares: labels that would collide stand around the mean of where they want to be).
 *
 * @param wanted In order from the top, CSS pixels.
 * @param pitch Least distance.
 * @param room Places lie between these.
 * @returns Null if they have no room.
 */
export function placeApart(
  wanted: readonly number[],
  pitch: number,
  [from, to]: readonly [number, number],
): readonly number[] | null {
  const last = to - pitch * (wanted.length - 1);
  if (last < from) return null;
  // With the pitch taken off, places may be equal but not fall: pool adjacent violators.
  const pools: { sum: number; count: number }[] = [];
  for (const [n, y] of wanted.entries()) {
    let pool = { sum: y - n * pitch, count: 1 };
    let above = pools.at(-1);
    while (above && above.sum / above.count > pool.sum / pool.count) {
      pools.pop();
      pool = { sum: pool.sum + above.sum, count: pool.count + above.count };
      above = pools.at(-1);
    }
    pools.push(pool);
  }
  const free = pools.flatMap(({ sum, count }) => Array<number>(count).fill(sum / count));
  return free.map((y, n) => Math.min(last, Math.max(from, y)) + n * pitch);
}
