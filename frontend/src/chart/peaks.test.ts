import { expect, it } from "vitest";
import { chart, line } from "../testing/charts";
import { DARK_CHART_THEME } from "./palette";
import type { Plot } from "./plot";
import { drawPeaks, peaksNote, peakText } from "./tooltip";

const PLOT: Plot = { left: 10, top: 0, width: 100, height: 50, t0_s: 0, t1_s: 20, y_top: 1 };
const peaks = {
  low: Float64Array.of(Number.NaN, 0.25, 0.5, Number.NaN, 0, 0),
  high: Float64Array.of(Number.NaN, 0.75, 0.5, Number.NaN, 1.128, Number.NaN),
  over_s: 0.5,
  within_s: 10,
};
const others = line({ kind: "others", name: "others", key: null });
const lines = [{ low: [0, 0, 0] }, { line: others, low: [0, 0, 0] }];
const view = chart([0, 10, 20], lines, { peaks });

it("says in the tooltip how high a line was in between, and what that means", () => {
  expect([0, 1, 2].map((column) => peakText(view, 0, column))).toEqual([
    "",
    "up to 0.750 cores",
    "up to 0.500 cores",
  ]);
  expect(peakText(view, 1, 1)).toBe("up to at least 1.13 cores");
  expect(peaksNote(view)).toBe("“up to”: greatest rate over 0.5 s, within 10 s");
  const fine = { ...view, peaks: null };
  expect([peakText(fine, 0, 1), peaksNote(fine)]).toEqual(["", null]);
});

it("draws from the least to the greatest, back to the column before", () => {
  const drawn: number[][] = [];
  const context = {
    globalAlpha: 1,
    fillStyle: "",
    fillRect: (...place: number[]) => drawn.push(place),
  };
  drawPeaks(context, view, PLOT, DARK_CHART_THEME, ({ kind }) => kind === "thread");
  expect(drawn).toEqual([[10, 12.5, 50, 25]]);
  expect(context.globalAlpha).toBe(1);
});
