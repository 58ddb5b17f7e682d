/**
 * The one definition of *rate* in the page: from readings of a cumulative counter to units a second.
 * Charts, tiles, table, thread map, runs and comparisons use it. tidscope_wire/rates.py has the same
 * in Python; tests/contract/rates.json holds both to the same numbers.
 */

/** What is known of a counter's source; most counters neither wrap nor have a limit. */
export interface CounterLimits {
  /** Units after which it starts again at 0. */
  readonly wraps_at?: number | undefined;
  /** Units a second that it cannot exceed: what would need more is a reset. */
  readonly max_per_s?: number | undefined;
}

const NO_LIMITS: CounterLimits = {};

/**
 * How much a counter grew from one reading to the next.
 *
 * A counter that fell was reset, unless it wraps: what it did in between is unknown, and counting
 * goes on from the new value. Where frames are missing, the increase over that time is still exact.
 *
 * @returns Counter units; NaN if it cannot be derived, as where a reading is absent (NaN).
 */
export function increase(
  before: number,
  value: number,
  elapsed_s: number,
  limits: CounterLimits = NO_LIMITS,
): number {
  if (!(elapsed_s > 0)) return Number.NaN;
  const { wraps_at, max_per_s } = limits;
  let grown = value - before;
  if (grown < 0) grown += wraps_at ?? Number.NaN;
  if (max_per_s !== undefined) {
    const most = max_per_s * elapsed_s;
    // Longer than a wrap takes: how often it wrapped is unknown.
    if (grown > most || (wraps_at !== undefined && most > wraps_at)) return Number.NaN;
  }
  return grown;
}

/** Mean rate from one reading to the next, counter units a second; NaN if it cannot be derived. */
export function rateBetween(before: number, value: number, elapsed_s: number): number {
  return increase(before, value, elapsed_s) / elapsed_s;
}

/** What else is known of a series of readings. */
export interface SeriesFacts extends CounterLimits {
  /** The source does not know what it counted since the reading before: true at that reading. */
  readonly gaps?: readonly boolean[];
  /** When the thread exited: its exit record is the last reading, and nothing comes after it. */
  readonly exit_s?: number;
}

const NO_FACTS: SeriesFacts = {};

/**
 * Rate of a counter at each of its readings: the mean over the last `smoothing_s` or a little more,
 * that is back to the newest reading at least that old. It does not reach back over a reset, a gap of
 * the source or an absent reading; within a shorter stretch it goes back as far as there is any.
 *
 * @param time_s Times of the readings, ascending, seconds.
 * @param values The counter at those times; NaN = absent.
 * @param n How many of them count.
 * @param smoothing_s Shortest time to average over; 0: from one reading to the next.
 * @param out Gets counter units a second; NaN where there is none, as at the first reading.
 */
export function rates(
  time_s: Float64Array,
  values: Float64Array,
  n: number,
  smoothing_s: number,
  out: Float64Array,
  facts: SeriesFacts = NO_FACTS,
): void {
  const { gaps, wraps_at, max_per_s } = facts;
  const plain = gaps === undefined && max_per_s === undefined && wraps_at === undefined;
  const exit_s = facts.exit_s ?? Number.POSITIVE_INFINITY;
  // Times are sums of doubles: a reading that is meant to be smoothing_s old may be off by rounding.
  const enough = smoothing_s * (1 - 1e-6);
  let from = 0; // reading that the rate is taken against
  let start = 0; // first reading of the stretch
  let wrapped = 0; // what wraps have added since the stretch began
  let wrappedFrom = 0; // the same at `from`
  for (let i = 0; i < n; i++) {
    out[i] = Number.NaN;
    const value = values[i] ?? Number.NaN;
    const t_s = time_s[i] ?? 0;
    if (Number.isNaN(value) || t_s > exit_s) {
      start = i + 1;
      from = start;
      continue;
    }
    if (i === start) {
      wrapped = 0;
      wrappedFrom = 0;
      continue;
    }
    const before = values[i - 1] ?? Number.NaN;
    const elapsed_s = t_s - (time_s[i - 1] ?? 0);
    if (plain ? value < before : breaks(before, value, elapsed_s, facts, i)) {
      start = i;
      from = i;
      wrapped = 0;
      wrappedFrom = 0;
      continue;
    }
    if (value < before) wrapped += wraps_at ?? 0;
    while (from + 1 < i && t_s - (time_s[from + 1] ?? 0) >= enough) {
      from++;
      if ((values[from] ?? 0) < (values[from - 1] ?? 0)) wrappedFrom += wraps_at ?? 0;
    }
    const over_s = t_s - (time_s[from] ?? 0);
    const grown = value - (values[from] ?? 0) + (wrapped - wrappedFrom);
    // A reading that is repeated at the same time adds nothing.
    if (elapsed_s > 0) out[i] = grown / over_s;
  }
}

/** Whether what the counter did since the reading before cannot be derived. */
function breaks(
  before: number,
  value: number,
  elapsed_s: number,
  { gaps, ...limits }: SeriesFacts,
  i: number,
): boolean {
  if (gaps?.[i] === true) return true;
  return elapsed_s > 0 && Number.isNaN(increase(before, value, elapsed_s, limits));
}

/**
 * How long a rate is averaged over, for samples that come `rate_hz` times a second: half a second,
 * because the kernel brings a running thread's CPU time up to date at scheduler ticks (1 to 10 ms,
 * so that single intervals of 100 ms would show up to 10 % of noise), or one interval if that is
 * longer.
 */
export function smoothingFor(rate_hz: number): number {
  return Math.max(0.5, 1 / rate_hz);
}
