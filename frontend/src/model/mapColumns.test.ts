import { describe, expect, it } from "vitest";
import type { Stretches } from "./history";
import { columnRates, type Life, Pieces } from "./mapColumns";

const ALWAYS: Life = { seen_s: 0, end_s: null, reset: false };

/** Rates in columns from `from` on, of a counter that has these values at these times. */
function rates(
  time: readonly number[],
  values: readonly number[],
  bin_s: number,
  [from, columns]: readonly [number, number],
  life = ALWAYS,
  fresh = false,
): number[] {
  const stretches: Stretches = { n: time.length, time_s: Float64Array.from(time), parts: [] };
  const pieces = new Pieces(stretches, from, columns, bin_s);
  const out = new Float64Array(columns);
  columnRates(pieces, Float64Array.from(values), life, fresh, out, new Float64Array(columns));
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
    for (const life of [
      ALWAYS,
      { seen_s: 1, end_s: null, reset: false },
      { seen_s: 1, end_s: 6, reset: false },
    ]) {
      const shown = rates(time, values, 0.17, [0, 48], life);
      const inside = time.filter((t) => t >= life.seen_s && t <= (life.end_s ?? 99));
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
    // A life that begins a little after the first sample is taken piece by piece.
    const pieces = rates([-0.1, ...time], [0, ...grown], 0.17, [0, 23], {
      seen_s: 0,
      end_s: null,
      reset: false,
    });
    expect(rates(time, grown, 0.17, [0, 23])).toEqual(pieces);
  });

  it("counts what a new thread did before its first sample, of others nothing", () => {
    const time = [0, 1, 2, 3];
    const values = [Number.NaN, 5, 6, 6];
    const life = { seen_s: 1, end_s: null, reset: false };
    expect(rates(time, values, 1, [0, 3], life, true)).toEqual([5, 1, 0]);
    expect(rates(time, values, 1, [0, 3], life, false)).toEqual([Number.NaN, 1, 0]);
    expect(rates(time, values, 1, [0, 3], { seen_s: 1, end_s: 1, reset: false }, true)).toEqual([
      5,
      Number.NaN,
      Number.NaN,
    ]);
  });

  it("leaves out the interval in which a counter was reset", () => {
    const life = { ...ALWAYS, reset: true };
    expect(rates([0, 1, 2, 3], [5, 9, 2, 5], 1, [0, 3], life)).toEqual([4, Number.NaN, 3]);
  });

  it("has no value where there are no samples", () => {
    expect(rates([1, 2], [0, 3], 1, [0, 3])).toEqual([Number.NaN, 3, Number.NaN]);
    expect(rates([1], [0], 1, [0, 2])).toEqual([Number.NaN, Number.NaN]);
  });
});
