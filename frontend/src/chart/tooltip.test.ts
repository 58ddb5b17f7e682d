import { describe, expect, it } from "vitest";
import { chart, line } from "../testing/charts";
import type { Plot } from "./plot";
import { columnAt, nearestLine, tooltipAt } from "./tooltip";

const PLOT: Plot = { left: 0, top: 0, width: 100, height: 100, t0_s: 0, t1_s: 10, y_top: 10 };
const VIEW = chart(
  [0, 1, 2, 3],
  [
    { line: line({ name: "a" }), low: [1, 1, 1, 1] },
    { line: line({ name: "b", tid: 2 }), low: [5, 6, 7, Number.NaN] },
    { line: line({ name: "c", tid: 3 }), low: [2, 2, 3, 3], high: [2, 2, 9, 3] },
  ],
);

describe("columnAt", () => {
  it("is the nearest in time, or the step in effect", () => {
    expect([-1, 0.4, 0.6, 1.5, 9].map((t) => columnAt(VIEW, t))).toEqual([0, 0, 1, 1, 3]);
    const steps = chart([0, 1, 2], [{ low: [1, 2, 3] }], { step: true });
    expect([0.9, 1, 1.9, 5].map((t) => columnAt(steps, t))).toEqual([0, 1, 1, 2]);
    expect(columnAt(chart([], []), 1)).toBe(-1);
  });
});

describe("nearestLine", () => {
  it("is the one within reach of the pointer", () => {
    expect(nearestLine(VIEW, PLOT, 10, 42)).toBe(1);
    expect(nearestLine(VIEW, PLOT, 10, 88)).toBe(0);
    // Within the third line's range in that column.
    expect(nearestLine(VIEW, PLOT, 20, 50)).toBe(2);
    expect(nearestLine(VIEW, PLOT, 10, 10)).toBe(-1);
    expect(nearestLine(VIEW, PLOT, 95, 90)).toBe(-1);
  });
});

describe("tooltipAt", () => {
  it("lists values at that time, largest first, without what has none", () => {
    const at = (t: number) => tooltipAt(VIEW, t)?.rows.map((row) => [row.line.name, row.value]);
    expect(at(2.2)).toEqual([
      ["c", 9],
      ["b", 7],
      ["a", 1],
    ]);
    expect(at(3)).toEqual([
      ["c", 3],
      ["a", 1],
    ]);
    expect(tooltipAt(chart([], []), 1)).toBeNull();
  });

  it("says how many found no room", () => {
    const many = chart(
      [0],
      Array.from({ length: 20 }, (_, i) => ({ low: [i] })),
    );
    expect(tooltipAt(many, 0)).toMatchObject({ more: 8 });
  });
});
