/**
 * The only definition of *rate* in the page: from readings of a cumulative counter to units per
 * second. Charts, tiles, table, thread map, runs and comparisons use it. tidscope_wire/rates.py is
 * the Python counterpart; tests/contract/rates.json pins both to the same numbers.
 */

/** Properties of a counter's source; most counters neither wrap nor have a limit. */
export interface CounterLimits {
  /** Value at which the counter wraps to 0. */
  readonly wraps_at?: number | undefined;
  /** Maximum units per second; a greater growth counts as a reset. */
  readonly max_per_s?: number | undefined;
}

const NO_LIMITS: CounterLimits = {};

/**
 * Growth of a counter between two readings. A counter that fell was reset, unless it wraps: the
 * growth in between is unknown, and counting continues from the new value. Across missing frames
 * the growth is still exact.
 * @returns Counter units; NaN if unknown, such as for an absent reading (NaN).
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
    // Longer than a wrap takes: the number of wraps is unknown.
    if (grown > most || (wraps_at !== undefined && most > wraps_at)) return Number.NaN;
  }
  return grown;
}

/** Mean rate between two readings, in counter units per second; NaN if unknown. */
export function rateBetween(before: number, value: number, elapsed_s: number): number {
  return increase(before, value, elapsed_s) / elapsed_s;
}

/** Properties of a series of readings. */
export interface SeriesFacts extends CounterLimits {
  /** True at a reading if the source does not know the growth since the previous reading. */
  readonly gaps?: readonly boolean[];
  /** Exit time of the thread: its exit record is the last reading. */
  readonly exit_s?: number;
}

const NO_FACTS: SeriesFacts = {};

/**
 * Rate of a counter at each reading: the mean back to the newest reading at least `smoothing_s`
 * old. It never spans a reset, a gap of the source or an absent reading; a shorter segment is used
 * as far as it goes.
 * @param time_s Times of the readings, ascending, seconds.
 * @param values The counter at those times; NaN = absent.
 * @param n Number of valid readings.
 * @param smoothing_s Minimum averaging time; 0: between adjacent readings.
 * @param out Receives counter units per second; NaN if unknown, as at the first reading.
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
  // Times are sums of doubles: a reading nominally smoothing_s old may be off by rounding.
  const enough = smoothing_s * (1 - 1e-6);
  let from = 0; // reading that the rate is relative to
  let start = 0; // first reading of the segment
  let wrapped = 0; // growth by wraps since the segment began
  let wrappedFrom = 0; // growth by wraps up to `from`
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
    // A reading repeated at the same time adds nothing.
    if (elapsed_s > 0) out[i] = grown / over_s;
  }
}

/** Whether the growth since the previous reading is unknown. */
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
 * Averaging time for samples at `rate_hz`: half a second, or one interval if longer. The kernel
 * updates a running thread's CPU time at scheduler ticks (1 to 10 ms). Intervals of 100 ms would
 * therefore show up to 10 % of noise.
 */
export function smoothingFor(rate_hz: number): number {
  return Math.max(0.5, 1 / rate_hz);
}

/** Times of samples that arrived in the last five seconds. */
export class Arrivals {
  private times_s: number[] = [];

  note(t_s: number): void {
    this.times_s.push(t_s);
    while (this.times_s.length > 2 && t_s - (this.times_s[0] ?? 0) > 5) this.times_s.shift();
  }

  restart(t_s: number): void {
    this.times_s = [t_s];
  }

  /** Samples per second; NaN until known. */
  get hz(): number {
    const n = this.times_s.length;
    const span = (this.times_s[n - 1] ?? 0) - (this.times_s[0] ?? 0);
    return n > 1 && span > 0 ? (n - 1) / span : Number.NaN;
  }
}
