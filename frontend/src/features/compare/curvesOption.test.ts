import { describe, expect, it } from "vitest";
import { DARK_CHART_THEME, LIGHT_CHART_THEME } from "../../chart/palette";
import {
  type CurveSource,
  curveMetrics,
  curveRoles,
  curvesOf,
  curvesOption,
  describeCurves,
  metricLabel,
  offsetText,
  rangeOf,
  ratesOf,
  runStyle,
} from "./curvesOption";

const A = { name: "a", index: 0, time_s: [-1, 0, 1], value: [0, 2, null] };
const B = { name: "b", index: 1, time_s: [0, 4], value: [1, 3] };

describe("ratesOf", () => {
  it("is growth over time, unknown where an end is", () => {
    expect(ratesOf([0, 1, 3, 4], [0, 2, 8, null])).toEqual([null, 2, 3, null]);
  });

  it("does not leap where instants are close", () => {
    expect(ratesOf([0, 1, 1.01, 2], [0, 1, 1.5, 2])).toEqual([null, 1, 1.5 / 1.01, 0.5 / 0.99]);
  });

  it("is unknown where the counter was reset", () => {
    expect(ratesOf([0, 1, 2], [5, 4, 6])).toEqual([null, null, 2]);
  });
});

describe("axes", () => {
  it("hold all curves", () => {
    expect(rangeOf([A, B])).toEqual({ t0_s: -1, t1_s: 4, y_max: 3 });
    expect(rangeOf([])).toEqual({ t0_s: 0, t1_s: 1, y_max: 0 });
  });

  it.each([
    [0, "0 s"],
    [-2.5, "−2.5 s"],
    [75, "1 min 15 s"],
  ])("tell %f as %s", (seconds, text) => {
    expect(offsetText(seconds)).toBe(text);
  });
});

it("tells eight runs apart by colour and dash together, none by both being another's", () => {
  for (const theme of [LIGHT_CHART_THEME, DARK_CHART_THEME]) {
    const styles = Array.from({ length: 8 }, (_, index) => runStyle(index, theme));
    expect(new Set(styles.map(({ colour }) => colour)).size).toBe(8);
    expect(new Set(styles.slice(0, 4).map(({ dash }) => dash.join())).size).toBe(4);
  }
});

it("ends the axis at a round number with four round steps", () => {
  const curve = { ...A, value: [0, 0.138, null] };
  const view = { curves: [curve], unit: "cores" as const, ...rangeOf([curve]), step: false };
  const { yAxis } = curvesOption(view, DARK_CHART_THEME);
  expect([yAxis.max, yAxis.interval]).toEqual([0.16, 0.04]);
});

it("draws a line a run, two of one name as well", () => {
  const view = {
    curves: [A, { ...B, name: "a" }],
    unit: "s" as const,
    ...rangeOf([A, B]),
    step: true,
  };
  const { series, yAxis, xAxis } = curvesOption(view, DARK_CHART_THEME);
  expect(series.map(({ id, name, step }) => [id, name, step])).toEqual([
    ["0", "a", "end"],
    ["1", "a", "end"],
  ]);
  expect(series[0]?.data).toEqual([
    [-1, 0],
    [0, 2],
    [1, null],
  ]);
  expect(yAxis.max).toBe(3);
  expect([xAxis.min, xAxis.max]).toEqual([-1, 4]);
});

it("says what is drawn", () => {
  const view = { curves: [A, B], unit: "s" as const, ...rangeOf([A, B]), step: false };
  expect(describeCurves(view, "CPU")).toBe(
    "CPU: a up to 2.00 s in 2.0 s; b up to 3.00 s in 4.0 s.",
  );
  expect(describeCurves({ ...view, curves: [] }, "CPU")).toBe("CPU: no data.");
});

const RUNS = ["r-20261121-130500-1f2e3d", "r-20261121-130700-1f2e3e"];

/** Two runs with workers waiting for locks: two at any time, and later three. */
const COMPARISON: CurveSource = {
  runs: RUNS.map((run, i) => ({ run, name: `run ${i + 1}` })),
  series: RUNS.flatMap((run, i) =>
    [null, "worker-#"].map((role) => ({
      ...{ run, role, metric: "time_locks", time_s: [-1, 0, 1, 2] },
      value: [0, 1, 2, 3].map((second) => 1e9 * second * (2 + i)),
    })),
  ),
};

it("shows time in states as the number of threads that are in them, by role", () => {
  expect(curveMetrics(COMPARISON).map(metricLabel)).toEqual(["State: Locks"]);
  expect(curveRoles(COMPARISON, "time_locks")).toEqual(["", "worker-#"]);
  const view = curvesOf(COMPARISON, "time_locks", "worker-#", "rate");
  expect(view).toMatchObject({ unit: "threads", t0_s: -1, t1_s: 2, y_max: 3 });
  expect(view.curves.map(({ name, value }) => [name, value.at(-1)])).toEqual([
    ["run 1", 2],
    ["run 2", 3],
  ]);
});

it("shows it as thread-seconds in all", () => {
  const view = curvesOf(COMPARISON, "time_locks", "", "total");
  expect(view.unit).toBe("s");
  expect(view.curves.map(({ value }) => value.at(-1))).toEqual([6, 9]);
});

it("numbers runs of one name", () => {
  const runs = COMPARISON.runs.map(({ run }) => ({ run, name: "bash" }));
  const { curves } = curvesOf({ ...COMPARISON, runs }, "time_locks", "", "rate");
  expect(curves.map(({ name }) => name)).toEqual(["bash", "bash (2)"]);
});
