import { describe, expect, it } from "vitest";
import { slopes, smoothingFor } from "./rate";

function run(time: number[], values: number[], smoothing_s: number): number[] {
  const out = new Float64Array(time.length);
  slopes(Float64Array.from(time), Float64Array.from(values), time.length, smoothing_s, out);
  return [...out];
}

describe("slopes", () => {
  it("divides by the time that really passed", () => {
    expect(run([0, 0.25, 1], [0, 25, 100], 0)).toEqual([Number.NaN, 100, 100]);
  });

  it("averages over the smoothing time or a little more, and over less at the start", () => {
    // Growth of 1, 3, 5 and 7 in steps of a quarter of a second.
    expect(run([0, 0.25, 0.5, 0.75, 1], [0, 1, 4, 9, 16], 0.5)).toEqual([Number.NaN, 4, 8, 16, 24]);
  });

  it("is not led astray by rounding of times", () => {
    const time = Array.from({ length: 21 }, (_, i) => i * 0.1);
    const values = time.map((t) => (t >= 1 ? 1 : 0));
    // From the sample at 1.0 on for half a second: 1 / 0.5.
    expect(run(time, values, 0.5).filter((slope) => slope > 0)).toHaveLength(5);
  });

  it("starts anew after a stretch without values", () => {
    expect(run([0, 1, 2, 3, 4], [5, 6, Number.NaN, 9, 11], 0.5)).toEqual([
      Number.NaN,
      1,
      Number.NaN,
      Number.NaN,
      2,
    ]);
  });
});

describe("smoothingFor", () => {
  it("is half a second, or one interval if that is longer", () => {
    expect([100, 10, 2, 1, 0.5].map(smoothingFor)).toEqual([0.5, 0.5, 0.5, 1, 2]);
  });
});
