/** The upper end of a value axis: round, and slow to shrink, for a new one redraws everything. */

import type { ShownUnit } from "../stream/views";

/** Parts that the axis is cut into by grid lines. */
export const Y_PARTS = 4;

const SHRINK_BELOW = 0.4;
const SHRINK_AFTER_MS = 3000;
/** What an axis shows at least, so that nothing looks large that is not. */
const LEAST: Readonly<Record<ShownUnit, number>> = {
  W: 1,
  J: 1,
  cores: 0.01,
  threads: 1,
  s: 0.01,
  ms: 1,
  share: 0.01,
  bytes: 4096,
  "bytes/s": 4096,
  "1/s": 4,
  count: 4,
};

/** Smallest round value that is no less than `max`: four round parts fit below it. */
export function niceTop(max: number, unit: ShownUnit): number {
  const wanted = Math.max(max, LEAST[unit]);
  const base = unit === "bytes" || unit === "bytes/s" ? 1024 : 1000;
  let power = base === 1024 ? 1 : 10 ** Math.floor(Math.log10(wanted));
  if (base === 1024) {
    while (power * 1024 <= wanted) power *= 1024;
    for (const step of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]) {
      if (step * power >= wanted) return step * power;
    }
  }
  const steps = unit === "count" ? [1, 2, 4, 8, 10] : [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10];
  for (const step of steps) {
    // 0.1 * 3 is a little above 0.3: round away what doubles add.
    const top = Number((step * power).toPrecision(12));
    if (top >= wanted) return top;
  }
  power *= 10;
  return power;
}

/** The axis in effect, and since when it has been larger than need be. */
export interface YRange {
  readonly top: number;
  readonly loose_since_ms: number | null;
}

/** A stretch of time, seconds since attach. */
interface Span {
  readonly t0_s: number;
  readonly t1_s: number;
}

/**
 * Whether a view follows another one as time goes on. Only then is an axis slow to shrink: a view that
 * stands, or of a stretch of another length, gets the axis that it needs.
 */
export function follows(before: Span | null, now: Span): boolean {
  if (!before || now.t0_s <= before.t0_s) return false;
  return Math.abs(now.t1_s - now.t0_s - (before.t1_s - before.t0_s)) < 1e-6;
}

/**
 * The next range: grows at once, shrinks when the data has stayed below two fifths of it for three
 * seconds.
 *
 * @param max Largest value shown.
 * @param clock_ms A clock that only runs forward.
 */
export function nextRange(
  before: YRange | null,
  max: number,
  unit: ShownUnit,
  clock_ms: number,
): YRange {
  if (!before || max > before.top) return { top: niceTop(max, unit), loose_since_ms: null };
  const smaller = niceTop(max, unit);
  if (max > SHRINK_BELOW * before.top || smaller >= before.top) {
    return before.loose_since_ms === null ? before : { ...before, loose_since_ms: null };
  }
  if (before.loose_since_ms === null) return { ...before, loose_since_ms: clock_ms };
  if (clock_ms - before.loose_since_ms < SHRINK_AFTER_MS) return before;
  return { top: smaller, loose_since_ms: null };
}
