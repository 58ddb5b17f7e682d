import { describe, expect, it } from "vitest";
import type { ComparedMetric, FigureDifference } from "../../wire/generated/models";
import {
  barOf,
  differenceText,
  figureText,
  halfWidth,
  percentText,
  rowsOf,
  signOf,
  zeroRows,
} from "./differences";

const difference = (changes: Partial<FigureDifference> = {}): FigureDifference => ({
  absolute: 2,
  percent: 50,
  low: 1,
  high: 3,
  method: "welch",
  verdict: "worse",
  caveat: null,
  ...changes,
});
const metric = (changes: Partial<ComparedMetric> = {}): ComparedMetric => ({
  metric: "duration_s",
  label: "Duration",
  unit: "s",
  role: null,
  provenance: "exact",
  better: "less",
  groups: [{ values: [4], n: 1, mean: 4, std_dev: null, low: null, high: null }],
  differences: [difference()],
  ...changes,
});

describe("signOf", () => {
  it.each([
    ["worse", 2, "▲"],
    ["better", -2, "▼"],
    ["unclear", 2, "≈"],
    ["equal", 0, "="],
    ["unknown", null, ""],
  ] as const)("of %s by %s is %s", (verdict, absolute, sign) => {
    expect(signOf(difference({ verdict, absolute }))).toBe(sign);
  });
});

it("the half width of an interval is that of the mean, not the standard deviation", () => {
  // The repeats 14.2, 15.4 and 15.73: s = 0.81, and t(2) · s / √3 = 2.0.
  const figure = { values: [], n: 3, mean: 15.11, std_dev: 0.81, low: 13.11, high: 17.11 };
  expect(halfWidth(figure)).toBeCloseTo(2);
  expect(halfWidth({ ...figure, n: 1, low: null, high: null })).toBeNull();
});

describe("text", () => {
  it("has units of the catalogue, or of the metric", () => {
    expect(figureText(metric(), 12.34)).toBe("12.3 s");
    expect(figureText(metric({ metric: "cpu_run_ns", unit: "ns" }), 2.5e9)).toBe("2.50 s");
    expect(figureText(metric({ metric: "cpu_run_ns", unit: "ns/s" }), 2.5e9)).toBe("2.50 cores");
    expect(figureText(metric({ metric: "result:p99", unit: "" }), 0.0421)).toBe("0.0421");
    expect(figureText(metric({ metric: "ops_per_j", unit: "1/J" }), 3.1234)).toBe("3.12 1/J");
    expect(figureText(metric({ metric: "share_locks", unit: "share" }), 0.4167)).toBe("41.7 %");
    expect(figureText(metric(), null)).toBe("–");
  });

  it("has signs of differences", () => {
    expect(differenceText(metric(), -1.5)).toBe("−1.50 s");
    expect(differenceText(metric(), 1.5)).toBe("+1.50 s");
    expect(differenceText(metric(), -1e-9)).toBe("−1.00 ns");
    expect(percentText(-3.21)).toBe("−3.2 %");
    expect(percentText(12_345)).toBe("+12\u202f345 %");
    expect(percentText(null)).toBe("–");
  });
});

describe("rowsOf", () => {
  const rows = [
    metric(),
    metric({
      metric: "cpu_run_ns",
      label: "CPU time",
      differences: [difference({ percent: -80 })],
    }),
    metric({
      metric: "cpu_run_ns",
      label: "CPU time",
      role: "worker-#",
      differences: [difference({ percent: null })],
    }),
    metric({
      label: "Unknown",
      groups: [{ values: [null], n: 0, mean: null, std_dev: null, low: null, high: null }],
    }),
  ];
  const names = (found: readonly ComparedMetric[]) =>
    found.map(({ label, role }) => `${label}${role ?? ""}`);

  it("is of the whole process or of the roles", () => {
    expect(names(rowsOf(rows, "process", "", "given"))).toEqual(["Duration", "CPU time"]);
    expect(names(rowsOf(rows, "roles", "", "given"))).toEqual(["CPU timeworker-#"]);
  });

  it("leaves out what is 0 in all runs, and names it", () => {
    const nothing = { values: [0], n: 1, mean: 0, std_dev: null, low: null, high: null };
    const zero = [metric({ groups: [nothing, nothing] })];
    expect(rowsOf(zero, "process", "", "given")).toEqual([]);
    expect(zeroRows([...zero, ...rows])).toEqual(["Duration"]);
    expect(rowsOf([metric({ role: "io", groups: [nothing] })], "roles", "", "given")).toEqual([]);
  });

  it("filters by metric and role", () => {
    expect(names(rowsOf(rows, "roles", "cpu WORKER", "given"))).toEqual(["CPU timeworker-#"]);
    expect(names(rowsOf(rows, "process", "cpu", "given"))).toEqual(["CPU time"]);
  });

  it("has the largest difference first, what has none last", () => {
    expect(names(rowsOf(rows, "process", "", "size"))).toEqual(["CPU time", "Duration"]);
  });
});

it("draws the interval around 0", () => {
  expect(barOf(difference({ absolute: 1, low: -2, high: 4 }))).toEqual({
    from: 0.26,
    to: 0.98,
    at: 0.62,
  });
  expect(barOf(difference({ low: null }))).toBeNull();
  expect(barOf(difference({ absolute: 0, low: 0, high: 0 }))).toBeNull();
});
