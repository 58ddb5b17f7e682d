import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { columnsFor, extremes } from "./decimate";
import { rateBetween, rates, type SeriesFacts, smoothingFor } from "./rate";

function decimated(time: number[], values: number[], span_s: number, pixels: number) {
  const columns = columnsFor(Float64Array.from(time), time.length, span_s, pixels);
  const low = new Float64Array(columns.count);
  const high = columns.of ? new Float64Array(columns.count) : low;
  extremes(Float64Array.from(values), columns, low, high, 0);
  return { time_s: [...columns.time_s], low: [...low], high: [...high] };
}

describe("columnsFor and extremes", () => {
  it("keeps samples as they are while there are few", () => {
    expect(decimated([1, 2], [5, 6], 10, 100)).toEqual({
      time_s: [1, 2],
      low: [5, 6],
      high: [5, 6],
    });
  });

  it("keeps lowest and highest of each pixel column", () => {
    const time = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const values = [3, 9, 1, Number.NaN, 4, 4, 4, 8, 2];
    // Nine samples, three pixels of three seconds each.
    expect(decimated(time, values, 9, 3)).toEqual({
      time_s: [1.5, 4.5, 7.5],
      low: [1, 4, 2],
      high: [9, 4, 8],
    });
  });

  it("leaves columns without values empty", () => {
    const time = [0, 1, 2, 3, 4, 5];
    const none = Number.NaN;
    expect(decimated(time, [none, none, none, 1, 2, 3], 6, 2).low).toEqual([none, 1]);
  });

  it("does not move samples between columns when the window slides", () => {
    const time = Array.from({ length: 101 }, (_, i) => i);
    const values = time.map((t) => Math.sin(t));
    const before = decimated(time.slice(0, 100), values.slice(0, 100), 100, 20);
    const after = decimated(time.slice(1), values.slice(1), 100, 20);
    // All except the cut first and the growing last column are equal.
    expect(after.low.slice(1, 19)).toEqual(before.low.slice(1, 19));
    expect(after.time_s.slice(0, 20)).toEqual(before.time_s);
  });
});

function run(time: number[], values: number[], smoothing_s: number): number[] {
  const out = new Float64Array(time.length);
  rates(Float64Array.from(time), Float64Array.from(values), time.length, smoothing_s, out);
  return [...out];
}

describe("rates", () => {
  it("divides by the time that really passed", () => {
    expect(run([0, 0.25, 1], [0, 25, 100], 0)).toEqual([Number.NaN, 100, 100]);
  });

  it("averages over the smoothing time or a little more, and over less at the start", () => {
    // Growth of 1, 3, 5 and 7 in quarter-second steps.
    expect(run([0, 0.25, 0.5, 0.75, 1], [0, 1, 4, 9, 16], 0.5)).toEqual([Number.NaN, 4, 8, 16, 24]);
  });

  it("is not led astray by rounding of times", () => {
    const time = Array.from({ length: 21 }, (_, i) => i * 0.1);
    const values = time.map((t) => (t >= 1 ? 1 : 0));
    // For half a second from the sample at 1.0: 1 / 0.5.
    expect(run(time, values, 0.5).filter((slope) => slope > 0)).toHaveLength(5);
  });

  it("does not reach back over a stretch without values", () => {
    expect(run([0, 1, 2, 3, 4], [5, 6, Number.NaN, 9, 11], 0.5)).toEqual([
      Number.NaN,
      1,
      Number.NaN,
      Number.NaN,
      2,
    ]);
  });
});

/** Test case shared with tidscope_wire/rates.py. */
interface RateCase {
  readonly name: string;
  readonly samples: readonly {
    readonly time_ns: number;
    readonly value: number | null;
    readonly gap?: boolean;
  }[];
  readonly wraps_at?: number;
  readonly max_per_s?: number;
  readonly exit_ns?: number;
  readonly rates_per_s: readonly (number | null)[];
}

const { cases } = JSON.parse(
  readFileSync(new URL("../../../tests/contract/rates.json", import.meta.url), "utf8"),
) as { readonly cases: readonly RateCase[] };

describe("the shared table of rates", () => {
  it.each(cases)("$name", ({ samples, wraps_at, max_per_s, exit_ns, rates_per_s }) => {
    const out = new Float64Array(samples.length);
    const facts: SeriesFacts = {
      ...{ wraps_at, max_per_s, gaps: samples.map(({ gap }) => gap === true) },
      ...(exit_ns === undefined ? {} : { exit_s: exit_ns / 1e9 }),
    };
    rates(
      Float64Array.from(samples, ({ time_ns }) => time_ns / 1e9),
      Float64Array.from(samples, ({ value }) => value ?? Number.NaN),
      samples.length,
      0,
      out,
      facts,
    );
    expect(Array.from(out, (rate) => (Number.isNaN(rate) ? null : rate))).toEqual(rates_per_s);
  });

  it("holds for two readings as well, where nothing else is known", () => {
    for (const { samples, wraps_at, rates_per_s, exit_ns } of cases) {
      if (wraps_at !== undefined || exit_ns !== undefined) continue;
      for (let i = 1; i < samples.length; i++) {
        const [before, after] = [samples[i - 1], samples[i]];
        if (!before || !after || after.gap) continue;
        const elapsed_s = (after.time_ns - before.time_ns) / 1e9;
        const rate = rateBetween(before.value ?? Number.NaN, after.value ?? Number.NaN, elapsed_s);
        expect(Number.isNaN(rate) ? null : rate).toEqual(rates_per_s[i]);
      }
    }
  });
});

describe("smoothing", () => {
  it("does not reach back over a reset", () => {
    expect(run([0, 1, 2, 3, 4, 5], [0, 10, 20, 2, 6, 10], 2)).toEqual([
      Number.NaN,
      10,
      10,
      Number.NaN,
      4,
      4,
    ]);
  });

  it("adds up wraps", () => {
    const out = new Float64Array(5);
    const values = Float64Array.from([80, 90, 0, 10, 20]);
    rates(Float64Array.from([0, 1, 2, 3, 4]), values, 5, 2, out, { wraps_at: 100 });
    expect([...out]).toEqual([Number.NaN, 10, 10, 10, 10]);
  });
});

describe("smoothingFor", () => {
  it("is half a second, or one interval if that is longer", () => {
    expect([100, 10, 2, 1, 0.5].map(smoothingFor)).toEqual([0.5, 0.5, 0.5, 1, 2]);
  });
});
