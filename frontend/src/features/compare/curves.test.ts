import { expect, it } from "vitest";
import { type CurveSource, curveMetrics, curveRoles, curvesOf, metricLabel } from "./curves";

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
