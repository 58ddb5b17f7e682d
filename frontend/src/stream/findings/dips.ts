/** Dips of operations: when and how deep their rate fell below its level, and what changed meanwhile. */

import type { ViewInput } from "../chartView";
import { formatDuration, formatNumber, formatValue } from "../format";
import type { GaugeChange } from "../gaugeLog";
import { operationLines } from "../sizeView";
import type { Steps } from "../steps";
import type { Span } from "../window";
import { changesBetween, type TimeChange } from "../windowChange";
import { evidenceSteps } from "./evidence";
import { type Finding, measured, measuredTime, type Rule } from "./finding";

/** Thresholds: part of the level that is lost, its scatter, and seconds. */
const DEPTH = 0.4;
const SCATTERS = 4;
const LEAST_S = 2;
/** Scatter of a normal distribution, from the median distance to the median. */
const OF_MEDIAN = 1.4826;
/** Known time outside of dips, in seconds and as a share: else there is no level. */
const LEVEL_S = 8;
const LEVEL_SHARE = 0.6;
/** Time before a dip with which it is compared, in seconds. */
const BEFORE_S = 10;
/** Minimum rise in a dip, in threads on average, and its factor: of a finding, and of a state. */
const RISE = 0.3;
const FINDING_FACTOR = 2;
const STATE_FACTOR = 1.2;

export interface Dip extends Span {
  /** Operations per second: the level of the window, and the mean of the dip. */
  readonly level: number;
  readonly rate: number;
  /** Whether the rate was back before the last point. */
  readonly over: boolean;
}

/** Mean of the time since the point before. */
interface Interval extends Span {
  readonly rate: number;
}

/**
 * Stretches of a rate clearly below its level. The level is the median of the window, its scatter the
 * median distance from that, and at least what counting by chance would have.
 */
export function dipsOf(points: readonly GaugeChange[]): readonly Dip[] {
  const known = intervalsOf(points);
  const level = median(known.map(({ rate }) => rate));
  const scatter = OF_MEDIAN * median(known.map(({ rate }) => Math.abs(rate - level)));
  const runs: Interval[][] = [];
  let low = false;
  for (const each of known) {
    const chance = Math.sqrt(level / secondsOf(each));
    const least = level - Math.max(DEPTH * level, SCATTERS * Math.max(scatter, chance));
    const isLow = each.rate < least;
    if (isLow && low) runs.at(-1)?.push(each);
    else if (isLow) runs.push([each]);
    low = isLow;
  }
  const all_s = known.reduce((sum, each) => sum + secondsOf(each), 0);
  const dips = runs.flatMap((run): Dip[] => {
    const [first, last] = [run[0], run.at(-1)];
    // A rate that begins low has no level before.
    if (!first || !last || first === known[0]) return [];
    const span = { t0_s: first.t0_s, t1_s: last.t1_s };
    const done = run.reduce((sum, each) => sum + each.rate * secondsOf(each), 0);
    if (secondsOf(span) < LEAST_S) return [];
    return [{ ...span, level, rate: done / secondsOf(span), over: last !== known.at(-1) }];
  });
  const low_s = dips.reduce((sum, dip) => sum + secondsOf(dip), 0);
  return all_s - low_s >= Math.max(LEVEL_S, LEVEL_SHARE * all_s) ? dips : [];
}

function intervalsOf(points: readonly GaugeChange[]): readonly Interval[] {
  return points.flatMap(({ t_s, value }, i) => {
    const before = points[i - 1];
    if (!before || Number.isNaN(value) || !(t_s > before.t_s)) return [];
    return [{ t0_s: before.t_s, t1_s: t_s, rate: value }];
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

function secondsOf({ t0_s, t1_s }: Span): number {
  return t1_s - t0_s;
}

export const DIPS = "dips of operations";

export class DipFinder {
  /** Clauses that say what changed in a dip, by its span. */
  private causes = new Map<string, string>();

  /** The largest dip of each count of operations; null if none is known. */
  *find(input: ViewInput, rules: readonly Rule[]): Steps<readonly Finding[] | null> {
    const lines = operationLines(input);
    if (lines.length === 0) return null;
    const before = this.causes;
    this.causes = new Map();
    const found: Finding[] = [];
    for (const { name, points } of lines) {
      const dips = dipsOf(points);
      const lost = (dip: Dip) => (dip.level - dip.rate) * secondsOf(dip);
      const [dip] = dips.toSorted((a, b) => lost(b) - lost(a));
      if (!dip) continue;
      const key = `${name}:${dip.t0_s}:${dip.t1_s}`;
      const cause = before.get(key) ?? (yield* causeSteps(input, rules, dip));
      this.causes.set(key, cause);
      found.push(findingOf(name, dip, cause, dips.length - 1));
    }
    return found;
  }
}

function findingOf(name: string, dip: Dip, cause: string, more: number): Finding {
  const { level, rate, over, ...span } = dip;
  const [low, normal] = [rate, level].map((each) => formatNumber(each, "1/s"));
  const share = (level - rate) / level;
  return {
    id: `dip:${name}`,
    text: `Operations${name === "" ? "" : ` of ${name}`} fell by ${formatValue(share, "share")}, from ${normal} to ${low} a second.`,
    also: cause === "" ? "nothing else that was looked at changed as much" : `meanwhile ${cause}`,
    numbers: [
      measured(level, "1/s", "operations a second at its level"),
      measured(rate, "1/s", "operations a second in the dip"),
      measuredTime(secondsOf(span), "long"),
    ],
    evidence:
      `Level: the median of the window; compared with the ${formatDuration(BEFORE_S)} before. ` +
      `Threshold: ${formatValue(DEPTH, "share")} below it, ${SCATTERS} times its scatter, for ${formatDuration(LEAST_S)}.`,
    advice:
      cause === ""
        ? "Stacks of that time show what the threads did."
        : "See what began then, and whether it must be at the same time.",
    confidence: "likely",
    link: { panel: "gomaxprocs" },
    weight: share,
    when: { ...span, began: true, over, more },
  };
}

/** Cause of a dip: a change of size, else another finding within it, else the state of a role. */
function* causeSteps(input: ViewInput, rules: readonly Rule[], dip: Dip): Steps<string> {
  const size = sizeChange(input, dip);
  if (size !== "") return size;
  const before = { t0_s: Math.max(input.model.since_s, dip.t0_s - BEFORE_S), t1_s: dip.t0_s };
  const weights = new Map<string, number>();
  const earlier = yield* evidenceSteps({ ...input, span: before });
  for (const rule of rules) {
    for (const { id, weight } of rule.find(earlier, () => 0.5)) weights.set(id, weight);
  }
  const within = yield* evidenceSteps({ ...input, span: dip });
  const risen = rules
    .filter(({ whole }) => whole !== true)
    .flatMap((rule) => rule.find(within, () => 1))
    .filter(({ id, weight }) => isRise(weights.get(id) ?? 0, weight, FINDING_FACTOR))
    .sort((a, b) => b.weight - a.weight);
  const [most] = risen;
  if (most) return `${most.text.replace(/\.$/, "")}${most.also ? `; ${most.also}` : ""}`;
  const all: ViewInput = { ...input, filter: { fits: () => true, problem: "" } };
  const { times } = yield* changesBetween(all, before, dip);
  const state = times.find((change) => isRise(change.before, change.after, STATE_FACTOR));
  return state ? stateText(state) : "";
}

function isRise(before: number, after: number, factor: number): boolean {
  return after - before >= RISE && after >= factor * before;
}

function stateText({ role, label, before, after }: TimeChange): string {
  const [was, is] = [before, after].map((each) => formatNumber(each, "threads"));
  return `${is} threads of ${role} instead of ${was} were in “${label}”`;
}

/** A pool's size, or GOMAXPROCS, that changed as a dip began. */
function sizeChange({ model }: ViewInput, { t0_s, t1_s }: Dip): string {
  for (const [what, log] of [
    ["GOMAXPROCS", model.sizes],
    ["the pool’s size", model.steer.sizes],
  ] as const) {
    const [before, after] = log
      .between(t0_s - 1, Math.min(t0_s + 2, t1_s))
      .map(({ value }) => value);
    if (before === undefined || after === undefined) continue;
    if (after < before) return `${what} went from ${before} to ${after}`;
  }
  return "";
}
