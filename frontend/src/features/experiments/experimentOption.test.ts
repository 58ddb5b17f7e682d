import { describe, expect, it } from "vitest";
import { LIGHT_CHART_THEME } from "../../chart/palette";
import type { ChartPoint, ExperimentChart } from "../../wire/generated/models";
import {
  besideOthers,
  chartRange,
  describeChart,
  experimentOption,
  meanText,
  numberText,
  pointText,
  sharedName,
} from "./experimentOption";

const FIRST: ChartPoint = { x: 0, at: null, mean: 10, low: 5, high: 15, values: [8, 12] };

const GAINS: ExperimentChart = {
  id: "gains",
  title: "Throughput over the default",
  kind: "bars",
  x_label: "",
  x: ["framework=a", "framework=b"],
  y_label: "gain",
  unit: "%",
  reference: 0,
  series: [
    {
      name: "linear",
      points: [FIRST, { x: 1, at: null, mean: -2, low: null, high: null, values: [] }],
    },
    { name: "fixed", points: [{ x: 1, at: null, mean: 3, low: -400, high: 500, values: [] }] },
  ],
  note: "",
};

describe("charts of experiments", () => {
  it("writes numbers with few digits and without exponents", () => {
    expect(numberText(1234567.8)).toBe("1,234,568");
    expect(numberText(0.0123456)).toBe("0.01235");
    expect(numberText(10)).toBe("10");
  });

  it("says what it shows", () => {
    expect(describeChart(GAINS)).toBe(
      "Throughput over the default. linear: framework=a 10 (5 to 15), 2 repeats; framework=b -2. fixed: framework=b 3 (-400 to 500).",
    );
    expect(pointText({ x: 0, at: null, mean: 1, low: null, high: null, values: [] })).toBe("1");
  });

  it("shows zero, all means, and intervals that do not dwarf them", () => {
    const [bottom, top] = chartRange(GAINS);
    // The values range from -2 to 12; an interval of 900 is cut.
    expect(bottom).toBeLessThan(-2);
    expect(bottom).toBeGreaterThan(-20);
    expect(top).toBeGreaterThan(15);
    expect(top).toBeLessThan(30);
    const above = {
      ...GAINS,
      reference: null,
      series: [{ name: "", points: [FIRST] }],
    };
    expect(chartRange(above)[0]).toBe(0);
  });

  it("puts series of one place side by side", () => {
    expect(besideOthers(0, 1)).toBe(0);
    expect(besideOthers(0, 2)).toBeCloseTo(-besideOthers(1, 2));
    expect(besideOthers(2, 3) - besideOthers(0, 3)).toBeLessThan(0.8);
  });

  it("draws means, then intervals, for each series", () => {
    const option = experimentOption(GAINS, LIGHT_CHART_THEME);
    expect(option.series.map(({ type }) => type)).toEqual(["bar", "custom", "bar", "custom"]);
    expect(option.series[0]?.data).toEqual([
      [0, 10],
      [1, -2],
    ]);
    expect(option.tooltip.formatter({ seriesIndex: 2, dataIndex: 0 })).toBe(
      "fixed, framework=b: 3 (-400 to 500) %",
    );
    const lines = experimentOption({ ...GAINS, kind: "lines" }, LIGHT_CHART_THEME);
    expect(lines.series[0]?.type).toBe("line");
  });

  it("names each place of an axis in full, and what they have in common once", () => {
    const { xAxis } = experimentOption(GAINS, LIGHT_CHART_THEME, [], 400);
    expect(xAxis).toMatchObject({ data: ["a", "b"], name: "framework" });
    expect(xAxis.axisLabel).toMatchObject({ width: 146, overflow: "break" });
    expect(sharedName(["framework=a", "mean of all"]).places).toEqual(["a", "mean of all"]);
    for (const x of [
      ["size=1", "language=go"],
      ["size=1 language=go", "size=2 language=go"],
      ["1"],
    ])
      expect(sharedName(x)).toEqual({ name: "", places: x });
  });

  it("gives half an interval with two digits", () => {
    expect(meanText(150, 142.548, 157.452)).toBe("150 ± 7.5");
    expect(meanText(400_000, 370_190, 429_810)).toBe("400,000 ± 30,000");
    expect(meanText(3, null, null)).toBe("3");
  });

  it("shows names as text", () => {
    const named = { ...GAINS, series: [{ name: "<b>", points: [FIRST] }] };
    const option = experimentOption(named, LIGHT_CHART_THEME);
    expect(option.tooltip.formatter({ seriesIndex: 0, dataIndex: 0 })).toContain("&lt;b&gt;");
  });

  it("puts the points of a curve where they were achieved", () => {
    const curve: ExperimentChart = {
      ...GAINS,
      kind: "curve",
      reference: null,
      x: ["1000", "2000"],
      series: [
        {
          name: "pebble",
          points: [
            { x: 0, at: 990, mean: 1, low: null, high: null, values: [] },
            { x: 1, at: 1500.5, mean: 4, low: 3, high: 5, values: [3, 5] },
          ],
        },
      ],
    };
    const option = experimentOption(curve, LIGHT_CHART_THEME);
    expect(option.xAxis.type).toBe("value");
    expect(option.series[0]?.data).toEqual([
      [990, 1],
      [1500.5, 4],
    ]);
    expect(describeChart(curve)).toContain("at 990 (of 1000) 1; at 1,501 (of 2000) 4 (3 to 5)");
  });

  it("stacks shares up to the whole", () => {
    const option = experimentOption({ ...GAINS, kind: "stacked" }, LIGHT_CHART_THEME);
    expect([option.yAxis.min, option.yAxis.max]).toEqual([0, 1]);
    expect(option.series[0]).toMatchObject({ type: "bar", stack: "whole" });
    expect(option.series[2]).toMatchObject({ type: "bar", stack: "whole" });
  });
});
