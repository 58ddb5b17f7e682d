/**
 * Assessment of a value, and its trend, against the last minutes. Median and median absolute
 * deviation are robust to single bursts. Pure.
 */

import { formatDuration, formatValue } from "./format";
import type { Assessment, ShownUnit } from "./views";

/** Length of the reference past, in seconds; one point per second. */
export const REFERENCE_S = 300;
/** Minimum number of points for an assessment. */
const MIN_POINTS = 30;
/**
 * Number of points for the current value, and for the trend: the last ones against the ones before.
 */
const NOW = 3;
const LATELY = 5;
const BEFORE = 15;
/** Thresholds in spreads: unusual, and far off; and those of a trend. */
const UNUSUAL = 3;
const FAR = 8;
const TREND = 1.5;
/** Ratio of the standard deviation to the median absolute deviation, for a normal distribution. */
const NORMAL = 1.4826;
/**
 * Minimum spread relative to the median: a constant value has none, and changes below a tenth are
 * ignored.
 */
const MIN_SHARE = 1 / 30;
/** Absolute minimum spread: changes below three times this are ignored. */
const MIN_SPREAD: Readonly<Record<ShownUnit, number>> = {
  W: 0.1,
  J: 0.1,
  cores: 0.005,
  threads: 0.35,
  s: 0.005,
  ms: 0.1,
  share: 0.005,
  bytes: 1024,
  "bytes/s": 1024,
  "1/s": 3,
  count: 0.35,
};

/**
 * Assess the last points against the earlier ones.
 * @param points One per second, oldest first, the last of them now; NaN = unknown.
 * @param judged Number of last points assessed; the others are the reference.
 * @returns Null while there is too little data.
 */
export function assess(
  points: Float32Array,
  unit: ShownUnit,
  judged: number = NOW,
): Assessment | null {
  const now = mean(points.subarray(-judged));
  const reference = known(points.subarray(0, -judged));
  if (Number.isNaN(now) || reference.length < MIN_POINTS) return null;
  const middle = median(reference);
  const deviations = reference.map((value) => Math.abs(value - middle));
  const least = Math.max(MIN_SHARE * Math.abs(middle), MIN_SPREAD[unit]);
  const spread = Math.max(NORMAL * median(deviations), least);
  const off = (now - middle) / spread;
  const first = points.findIndex((value) => !Number.isNaN(value));
  return {
    level: levelOf(off),
    trend: judged === NOW ? trendOf(points, spread) : "steady",
    median: middle,
    spread,
    over_s: points.length - judged - first,
  };
}

function levelOf(off: number): Assessment["level"] {
  if (Math.abs(off) < UNUSUAL) return "normal";
  const far = Math.abs(off) >= FAR;
  if (off > 0) return far ? "far_high" : "high";
  return far ? "far_low" : "low";
}

function trendOf(points: Float32Array, spread: number): Assessment["trend"] {
  const lately = mean(points.subarray(-LATELY));
  const before = mean(points.subarray(-LATELY - BEFORE, -LATELY));
  const change = (lately - before) / spread;
  return change > TREND ? "rising" : change < -TREND ? "falling" : "steady";
}

const LEVEL_WORDS: Readonly<Record<Assessment["level"], string>> = {
  normal: "As usual",
  high: "Higher than usual",
  far_high: "Far higher than usual",
  low: "Lower than usual",
  far_low: "Far lower than usual",
};

/**
 * Assessment as a sentence: "Higher than usual and rising: the median of the last 4 min 50 s is
 * 1.20 cores."
 */
export function assessmentText(
  { level, trend, median: middle, over_s }: Assessment,
  unit: ShownUnit,
): string {
  const trends = trend === "steady" ? "" : ` and ${trend}`;
  const past = `the ${formatDuration(over_s)} before`;
  return `${LEVEL_WORDS[level]}${trends}: the median of ${past} is ${formatValue(middle, unit)}.`;
}

function known(points: Float32Array): Float32Array {
  return points.filter((value) => !Number.isNaN(value));
}

function mean(points: Float32Array): number {
  const values = known(points);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Median of known values; NaN if empty. */
function median(values: Float32Array): number {
  const sorted = values.toSorted();
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? Number.NaN)) / 2;
}
