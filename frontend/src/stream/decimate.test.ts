import { describe, expect, it } from "vitest";
import { columnsFor, extremes } from "./decimate";

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
