import { describe, expect, it } from "vitest";
import { chart } from "../testing/charts";
import type { Plot } from "./plot";
import { endOf, traceLine } from "./surface";

/** Ten pixels per second, ten per unit. */
const PLOT: Plot = { left: 0, top: 0, width: 100, height: 100, t0_s: 0, t1_s: 10, y_top: 10 };
const NONE = Number.NaN;

function traced(view: ReturnType<typeof chart>, index = 0): string {
  const steps: string[] = [];
  const pen = {
    moveTo: (x: number, y: number) => steps.push(`M${x},${y}`),
    lineTo: (x: number, y: number) => steps.push(`L${x},${y}`),
  };
  traceLine(pen, view, index, PLOT);
  return steps.join(" ");
}

describe("traceLine", () => {
  it("goes through the samples of its line", () => {
    const view = chart([0, 1, 2], [{ low: [9, 9, 9] }, { low: [0, 1, 3] }]);
    expect(traced(view, 1)).toBe("M0,100 L10,90 L20,70");
  });

  it("breaks where there is nothing, and shows a lone sample", () => {
    const view = chart([0, 1, 2, 3, 4], [{ low: [1, 1, NONE, 1, NONE] }]);
    expect(traced(view)).toBe("M0,90 L10,90 M30,90 L31,90");
  });

  it("goes through both ends of a column, the nearer first", () => {
    const view = chart([0, 1, 2], [{ low: [1, 1, 5], high: [1, 4, 8] }]);
    expect(traced(view)).toBe("M0,90 L10,90 L10,60 L20,50 L20,20");
    const down = chart([0, 1], [{ low: [8, 1], high: [8, 7] }]);
    expect(traced(down)).toBe("M0,20 L10,30 L10,90");
  });

  it("makes steps", () => {
    const view = chart([0, 1, 2], [{ low: [2, 4, 4] }], { step: true });
    expect(traced(view)).toBe("M0,80 L10,80 L10,60 L20,60 L20,60");
  });
});

describe("endOf", () => {
  it("is the last value within the plot", () => {
    expect(endOf(chart([0, 1, 2], [{ low: [1, 2, NONE] }]), 0, PLOT)).toEqual([10, 80]);
    expect(endOf(chart([-3, -2], [{ low: [1, 2] }]), 0, PLOT)).toBeNull();
  });
});
