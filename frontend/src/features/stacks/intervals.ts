/**
 * 95 % intervals of merged rows, by Wilson's interval of a share as in the backend. Pure. The
 * backend's intervals are the measure: a row's width says how many samples it is worth, and merged
 * rows have the mean of that, weighted by time.
 */

/** A value with the ends of its interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Spread of a share with an interval of some width: z²/n, where n is the number of independent
 * samples for which Wilson's interval is as wide. 0 for an exact share.
 * @param share From 0 to 1.
 * @param width Below 1.
 */
export function spreadOf(share: number, width: number): number {
  if (!(width > 0)) return 0;
  const square = Math.min(width, 0.999) ** 2;
  const [a, b, c] = [(square - 1) / 4, square / 2 - share * (1 - share), square / 4];
  return (-b - Math.sqrt(Math.max(0, b * b - 4 * a * c))) / (2 * a);
}

/** Ends of Wilson's interval of a share with a spread; they include the share. */
export function wilson(share: number, spread: number): readonly [low: number, high: number] {
  const centre = (share + spread / 2) / (1 + spread);
  const half = Math.sqrt(share * (1 - share) * spread + spread ** 2 / 4) / (1 + spread);
  return [Math.max(0, Math.min(share, centre - half)), Math.min(1, Math.max(share, centre + half))];
}

/** Spread of a part of a whole; 0 without a whole. */
export function spreadWithin({ value, low, high }: Interval, whole: number): number {
  return whole > 0 ? spreadOf(Math.min(1, value / whole), (high - low) / whole) : 0;
}

/** Interval of a part of a whole with a spread. */
export function intervalWithin(value: number, spread: number, whole: number): Interval {
  if (!(whole > 0)) return { value, low: value, high: value };
  const [low, high] = wilson(Math.min(1, value / whole), spread);
  return { value, low: low * whole, high: high * whole };
}

/** 97.5 % quantile of the normal distribution. */
const Z = 1.96;

/**
 * Square of the quantile of Student's t by that of the normal distribution (Abramowitz and Stegun,
 * 26.7.5): few samples widen an interval for they do not determine its width. 1 if not known.
 */
function widening(samples: number): number {
  const inverse = 1 / Math.max(1, samples);
  const second = (5 * Z ** 4 + 16 * Z ** 2 + 3) / 96;
  return (1 + ((Z ** 2 + 1) / 4) * inverse + second * inverse ** 2) ** 2;
}

/** Mean spread of parts, weighted by their values; of parts without a value the greatest. */
export class SpreadMean {
  private weighted = 0;
  private weight = 0;
  private greatest = 0;

  /** @param samples Number of samples that widened the part's interval; Infinity if unknown. */
  add(spread: number, weight: number, samples = Number.POSITIVE_INFINITY): void {
    const own = spread / widening(samples);
    this.weighted += own * weight;
    this.weight += weight;
    this.greatest = Math.max(this.greatest, own);
  }

  /** @param samples Number of samples of the whole, as in `add`. */
  of(samples = Number.POSITIVE_INFINITY): number {
    const mean = this.weight > 0 ? this.weighted / this.weight : this.greatest;
    return mean * widening(samples);
  }
}

/**
 * Interval of after − before, from the intervals of both. The squares of the distances to the ends
 * add up (Zou and Donner, 2008), so that intervals need not be symmetric.
 */
export function differenceOf(before: Interval, after: Interval): Interval {
  const value = after.value - before.value;
  const down = Math.hypot(after.value - after.low, before.high - before.value);
  const up = Math.hypot(after.high - after.value, before.value - before.low);
  return { value, low: value - down, high: value + up };
}
