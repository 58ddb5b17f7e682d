import { describe, expect, it } from "vitest";
import type {
  ExperimentFigure,
  ExperimentSummary,
  FigureDifference,
} from "../../wire/generated/models";
import { gainText, progressText } from "./ExperimentsPage";

const SUMMARY: ExperimentSummary = {
  id: "x-20261123-001500-1f2e3d",
  name: "made",
  title: "A made experiment",
  preset: "full",
  state: "running",
  started_unix_us: 0,
  workloads: ["web"],
  cells: 4,
  cells_done: 1,
  repeats: 5,
  least_left: 3,
  most_left: 9,
  left_s: 90,
  cell: null,
  targets: [],
};

const GAIN: FigureDifference = {
  absolute: 10,
  percent: 10,
  low: 5,
  high: 15,
  method: "welch",
  verdict: "better",
  caveat: null,
};

const FIGURE: ExperimentFigure = {
  name: "throughput",
  label: "Throughput",
  unit: "1/s",
  figure: { values: [110, 110], n: 2, mean: 110, std_dev: 0, low: 109, high: 111 },
  gain: GAIN,
  adjusted_p: null,
  comparisons: 0,
};

describe("words of experiments", () => {
  it("says how far one is", () => {
    expect(progressText(SUMMARY)).toBe("1 of 4 cells, 5 repeats; 3 to 9 left, at least 1 min 30 s");
    expect(progressText({ ...SUMMARY, state: "complete", least_left: 0 })).toBe(
      "1 of 4 cells, 5 repeats",
    );
    expect(progressText({ ...SUMMARY, state: "interrupted", left_s: null, most_left: 3 })).toBe(
      "1 of 4 cells, 5 repeats; 3 left",
    );
  });

  it("says gains with intervals, and that none is shown", () => {
    expect(gainText(FIGURE)).toBe("+10.0 % [+5.0, +15.0] better");
    const corrected = { ...FIGURE, adjusted_p: 0.06312, comparisons: 10 };
    expect(gainText(corrected)).toBe("+10.0 % [+5.0, +15.0] better, p = 0.063 of 10 (Holm)");
    expect(gainText({ ...corrected, comparisons: 1 })).toBe("+10.0 % [+5.0, +15.0] better");
    const gain = {
      ...GAIN,
      absolute: -1,
      percent: -1,
      low: -5,
      verdict: "unclear" as const,
    };
    expect(gainText({ ...FIGURE, gain })).toBe("−1.0 % [−5.0, +15.0] no difference shown");
    expect(gainText({ ...FIGURE, gain: null })).toBe("");
    expect(gainText(undefined)).toBe("");
  });
});
