import { describe, expect, it } from "vitest";
import type { Stretches } from "./history";
import { columnRates, type Life, Pieces } from "./mapColumns";

/** A life that begins and ends with samples. */
const life = (seen_s: number, end_s: number | null): Life => ({
  ...{ seen_s, end_s, from_s: seen_s, until_s: end_s },
  reset: false,
});
const ALWAYS = life(0, null);

/** Rates in columns from `from` on, of a counter with these values at these times. */
function rates(
  time: readonly number[],
  values: readonly number[],
  bin_s: number,
  [from, columns]: readonly [number, number],
  own = ALWAYS,
  fresh = false,
): number[] {
  const stretches: Stretches = { n: time.length, time_s: Float64Array.from(time), parts: [] };
  const pieces = new Pieces(stretches, from, columns, bin_s);
  const out = new Float64Array(columns);
  columnRates(pieces, Float64Array.from(values), own, fresh, out, new Float64Array(columns));
  return [...out].map((rate) => Math.round(1e6 * rate) / 1e6);
}

describe("columnRates", () => {
  it("shares growth out among the columns between two samples", () => {
    expect(rates([0, 2], [0, 8], 0.5, [0, 4])).toEqual([4, 4, 4, 4]);
    expect(rates([0.25, 0.75, 1.25], [0, 1, 5], 0.5, [0, 3])).toEqual([2, 5, 8]);
  });

  it("loses nothing, however samples and columns lie", () => {
    const time = Array.from({ length: 80 }, (_, i) => i / 10 + ((i * 7) % 5) / 100);
    const values = time.map((_, i) => i ** 2);
    for (const own of [ALWAYS, life(1, null), life(1, 6)]) {
      const shown = rates(time, values, 0.17, [0, 48], own);
      const inside = time.filter((t) => t >= own.seen_s && t <= (own.end_s ?? 99));
      const grown =
        (values[time.indexOf(inside.at(-1) ?? 0)] ?? 0) -
        (values[time.indexOf(inside[0] ?? 0)] ?? 0);
      const covered = (k: number): number =>
        Math.min((k + 1) * 0.17, inside.at(-1) ?? 0) - Math.max(k * 0.17, inside[0] ?? 0);
      const sum = shown.reduce(
        (all, rate, k) => all + (Number.isNaN(rate) ? 0 : rate * covered(k)),
        0,
      );
      expect(sum).toBeCloseTo(grown, 3);
    }
  });

  it("is the same for a thread that was there all the time, either way it is found", () => {
    const time = Array.from({ length: 40 }, (_, i) => i / 10 + ((i * 3) % 4) / 100);
    const values = time.map((_, i) => 5 * i + ((i * 11) % 6));
    const grown = values.map((_, i) => Math.max(...values.slice(0, i + 1)));
    // A life that begins shortly after the first sample is evaluated piece by piece.
    const pieces = rates([-0.1, ...time], [0, ...grown], 0.17, [0, 23], life(0, null));
    expect(rates(time, grown, 0.17, [0, 23])).toEqual(pieces);
  });

  it("counts what a new thread did before its first sample, of others nothing", () => {
    const time = [0, 1, 2, 3];
    const values = [Number.NaN, 5, 6, 6];
    const own = { ...life(1, null), from_s: 0 };
    expect(rates(time, values, 1, [0, 3], own, true)).toEqual([5, 1, 0]);
    expect(rates(time, values, 1, [0, 3], own, false)).toEqual([Number.NaN, 1, 0]);
    const short = { ...life(1, 1), from_s: 0 };
    expect(rates(time, values, 1, [0, 3], short, true)).toEqual([5, Number.NaN, Number.NaN]);
  });

  it("shows a life between two samples only where it was", () => {
    const none = Number.NaN;
    const own = { ...life(2, 2), from_s: 1.1, until_s: 1.35 };
    // Half a core for a quarter of a second, in columns of a fifth.
    expect(rates([0, 1, 2], [none, none, 0.125], 0.2, [4, 6], own, true)).toEqual([
      ...[none, 0.5, 0.5, none, none, none],
    ]);
    // A momentary life still leaves a mark.
    const moment = { ...life(2, 2), from_s: 1.1, until_s: 1.1 };
    const [before, at, after] = rates([0, 1, 2], [none, none, 0], 0.2, [4, 3], moment, true);
    expect([before, at, after]).toEqual([none, 0, none]);
  });

  it("begins and ends within the time between samples", () => {
    const none = Number.NaN;
    const own = { ...life(2, 3), from_s: 1.5, until_s: 2.5 };
    expect(rates([0, 1, 2, 3], [none, none, 1, 2], 0.5, [2, 4], own, true)).toEqual([
      none,
      2,
      2,
      none,
    ]);
  });

  it("leaves out the interval in which a counter was reset", () => {
    const own = { ...ALWAYS, reset: true };
    expect(rates([0, 1, 2, 3], [5, 9, 2, 5], 1, [0, 3], own)).toEqual([4, Number.NaN, 3]);
  });

  it("has no value where there are no samples", () => {
    expect(rates([1, 2], [0, 3], 1, [0, 3])).toEqual([Number.NaN, 3, Number.NaN]);
    expect(rates([1], [0], 1, [0, 2])).toEqual([Number.NaN, Number.NaN]);
  });
});
