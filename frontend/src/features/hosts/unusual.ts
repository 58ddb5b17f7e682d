/**
 * Unusual hosts: distance from the median in units of the usual spread. Pure. The
 * rule is documented in docs/fleet.md.
 */

import { formatPercent, formatValue, shownRate } from "../../stream/format";
import { NATURE_NAMES, type Nature } from "../../stream/states";
import type { FleetAcross, FleetHost, FleetValue } from "../../wire/generated/models";

/** Natures of a bar, in the order of `FleetHost.states`. */
export const BAR_NATURES = [
  "running",
  "runnable",
  "blocked",
  "idle",
  "unknown",
] as const satisfies readonly Nature[];

/** Distance from which a host is an outlier. */
export const OUTLIER = 5;
/** Fewest hosts that can have outliers. */
export const MIN_HOSTS = 4;
/** Least spread of a share of time: two points. */
const MIN_SHARE = 0.02;
/** Least spread of a value, as a share of the median. */
const MIN_RELATIVE = 0.05;
/** Standard deviation of a normal distribution over its median absolute deviation. */
const MAD_SCALE = 1.4826;
/** Natures that are judged: idle and unknown time is the rest. */
const JUDGED = [0, 1, 2] as const;

export interface Unusual {
  /** Greatest distance from the median, in spreads. */
  readonly score: number;
  /** The unusual part, within a sentence; "" for a usual host. */
  readonly why: string;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
}

interface Level {
  readonly median: number;
  readonly spread: number;
}

function levelOf(values: readonly number[], least: (median: number) => number): Level {
  const middle = median(values);
  const deviation = median(values.map((value) => Math.abs(value - middle)));
  return { median: middle, spread: Math.max(MAD_SCALE * deviation, least(middle)) };
}

/** Shares of the time of a host's threads by nature; null without rows. */
export function sharesOf(states: readonly number[]): readonly number[] | null {
  const whole = states.reduce((sum, one) => sum + one, 0);
  return whole > 0 ? states.map((one) => one / whole) : null;
}

/** How unusual each host is, in the given order. */
export function unusualHosts(hosts: readonly FleetHost[]): readonly Unusual[] {
  const shares = hosts.map(({ states }) => sharesOf(states));
  const known = shares.filter((one) => one !== null);
  const levels = JUDGED.map((at) =>
    levelOf(
      known.map((one) => one[at] ?? 0),
      () => MIN_SHARE,
    ),
  );
  return shares.map((one) => {
    if (one === null || known.length < MIN_HOSTS) return { score: 0, why: "" };
    let score = 0;
    let why = "";
    for (const at of JUDGED) {
      const level = levels[at];
      const nature = BAR_NATURES[at];
      if (level === undefined || nature === undefined) continue;
      const share = one[at] ?? 0;
      const distance = Math.abs(share - level.median) / level.spread;
      if (distance > score) {
        score = distance;
        why =
          `${NATURE_NAMES[nature]} ${formatPercent(share)} of its threads' time, ` +
          `the median host ${formatPercent(level.median)}`;
      }
    }
    return { score, why: score >= OUTLIER ? why : "" };
  });
}

/** Hosts far from the median, the farthest first. */
export function outliers({ hosts }: FleetAcross): readonly FleetValue[] {
  if (hosts.length < MIN_HOSTS) return [];
  const level = levelOf(
    hosts.map(({ value }) => value),
    (middle) => Math.max(MIN_RELATIVE * middle, Number.MIN_VALUE),
  );
  const distance = ({ value }: FleetValue) => Math.abs(value - level.median) / level.spread;
  return hosts
    .filter((host) => distance(host) >= OUTLIER)
    .sort((a, b) => distance(b) - distance(a));
}

/** Verbs for what threads do, around a factor. */
const VERBS: Readonly<Record<string, readonly [verb: string, rest: string]>> = {
  cpu_run_ns: ["runs", "as long"],
  cpu_delay_ns: ["waits", "as long for a CPU"],
  blkio_delay_ns: ["waits", "as long for block I/O"],
  state_futex_ns: ["waits", "as long for locks"],
  swapin_delay_ns: ["waits", "as long for swap-in"],
};

/** A host's difference from the median host, in a sentence; the role is named by the caller. */
export function outlierText(across: FleetAcross, host: FleetValue): string {
  const middle = median(across.hosts.map(({ value }) => value));
  const shown = shownRate(across.counter, host.value);
  const value = formatValue(shown.value, shown.unit);
  if (!(middle > 0)) {
    return `${across.label}: ${value} on ${host.name}; the median host has none.`;
  }
  const ratio = factorText(host.value / middle);
  const words = VERBS[across.counter];
  return words === undefined
    ? `has ${ratio} × the ${across.label.toLowerCase()} on ${host.name} (${value}).`
    : `${words[0]} ${ratio} × ${words[1]} on ${host.name} (${value}).`;
}

/** A rate with its sign; a negative one that is too small to write is ">−0.001 cores". */
export function signedRate(counter: string, value: number): string {
  const shown = shownRate(counter, Math.abs(value));
  const text = formatValue(shown.value, shown.unit);
  if (value >= 0) return text;
  return text.startsWith("<") ? `>−${text.slice(1)}` : `−${text}`;
}

/** A ratio with two significant digits: "4", "0.25", "120". */
export function factorText(ratio: number): string {
  return String(Number(ratio.toPrecision(2)));
}
