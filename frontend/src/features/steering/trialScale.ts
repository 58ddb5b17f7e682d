/** Geometry of the pictures of a size curve and of a proof. Pure. */

import { formatDifference } from "../../stream/format";
import type { DecisionView, SizeTried } from "../../stream/steerView";
import type { SweepState } from "../../wire/generated/models";

export const WIDTH = 360;
export const HEIGHT = 180;
export const LEFT = 48;
export const RIGHT = 10;
export const TOP = 14;
export const BOTTOM = 154;

/** Positions in a picture. */
export interface Scale {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  /** Round values of the vertical axis. */
  readonly ticks: readonly number[];
}

/** A time span of a proof on one side. */
export interface ProofBlock {
  readonly withPolicy: boolean;
  readonly intervals: readonly DecisionView[];
  /** Mean operations per second of counted intervals except the first; NaN if none. */
  readonly mean: number;
}

/** The gain of a proof at a moment, percent; ends are null without an interval. */
export interface GainAt {
  readonly t_s: number;
  readonly percent: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Positions between two pairs of values. */
export function scaleOf(
  across: readonly [number, number],
  up: readonly [number, number],
  [top, bottom]: readonly [number, number] = [TOP, BOTTOM],
): Scale {
  const wide = across[1] - across[0] || 1;
  const high = up[1] - up[0] || 1;
  return {
    x: (value) => LEFT + ((value - across[0]) / wide) * (WIDTH - LEFT - RIGHT),
    y: (value) => {
      const share = (Math.min(Math.max(value, up[0]), up[1]) - up[0]) / high;
      return bottom - share * (bottom - top);
    },
    ticks: ticksBetween(up[0], up[1]),
  };
}

/** Round values within two bounds, at most six. */
export function ticksBetween(low: number, high: number): readonly number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / 5));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((each) => span / each <= 5);
  if (step === undefined) return [low];
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: count }, (_, at) => (first + at) * step);
}

/** Highest value shown of a size curve; an interval of few rounds may be far wider. */
export function curveTop({ points }: SweepState): number {
  const most = Math.max(0, ...points.map(({ ops_per_s }) => ops_per_s));
  const ends = Math.max(most, ...points.map(({ high, ops_per_s }) => high ?? ops_per_s));
  return Math.min(1.1 * ends, 2 * most) || 1;
}

/** The blocks of the last proof among decisions, oldest first. */
export function proofBlocks(decisions: readonly DecisionView[]): readonly ProofBlock[] {
  const blocks: DecisionView[][] = [];
  for (const decision of lastProof(decisions)) {
    const block = blocks.at(-1);
    if (block?.at(-1)?.with_policy === decision.with_policy) block?.push(decision);
    else blocks.push([decision]);
  }
  return blocks.map((intervals) => {
    const counted = intervals.slice(1).filter((each) => each.counted && !Number.isNaN(each.rate));
    const sum = counted.reduce((total, { rate }) => total + rate, 0);
    const withPolicy = intervals[0]?.with_policy === true;
    return {
      withPolicy,
      intervals,
      mean: counted.length === 0 ? Number.NaN : sum / counted.length,
    };
  });
}

/** Changes of the last proof's gain, oldest first. */
export function gainsOf(decisions: readonly DecisionView[]): readonly GainAt[] {
  const found: GainAt[] = [];
  for (const { t_s, gain } of lastProof(decisions)) {
    if (gain === null) continue;
    const { percent, low_percent: low, high_percent: high } = gain;
    const last = found.at(-1);
    if (last?.percent === percent && last.low === low && last.high === high) continue;
    found.push({ t_s, percent, low, high });
  }
  return found;
}

/** Decisions of the last proof, which an unrelated decision ends. */
function lastProof(decisions: readonly DecisionView[]): readonly DecisionView[] {
  const last = decisions.findLastIndex(({ with_policy }) => with_policy !== null);
  if (last < 0) return [];
  const before = decisions.findLastIndex(
    ({ with_policy, number }, at) => at <= last && (with_policy === null || number === 1),
  );
  const first = decisions[before]?.with_policy === null ? before + 1 : Math.max(before, 0);
  return decisions.slice(first, last + 1);
}

export interface Bar extends SizeTried {
  /** Length relative to the longest, 0 to 1. */
  readonly share: number;
  readonly best: boolean;
  readonly current: boolean;
  /** Difference from the best, relative to it; at most 0. */
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

/** Text after a bar: "best", or the difference from the best. */
export function behindBestText({ best, behind }: Bar): string {
  if (best) return "best";
  return Math.abs(behind) < 0.0005 ? "same" : formatDifference(100 * behind);
}
