import { expect, it } from "vitest";
import { type SharesOf, stateShares } from "./StatesPanel";

const row = (metric: string, role: string | null, means: readonly (number | null)[]) => ({
  metric,
  role,
  groups: means.map((mean) => ({ mean })),
});

const comparison = (metrics: SharesOf["metrics"]): SharesOf => ({
  metrics,
  groups: [{ label: "static" }, { label: "adaptive" }],
  roles: [{ label: "worker-#" }, { label: "logger" }],
});

it("has a bar for each group of runs, of the process and of each role", () => {
  const shares = stateShares(
    comparison([
      row("share_running", null, [0.25, 0.5]),
      row("share_locks", null, [0.746, 0.5]),
      row("share_sleep", null, [0.004, null]),
      row("share_state_futex", null, [0.7, 0.5]),
      row("share_running", "worker-#", [null, 0.999]),
    ]),
  );
  expect(shares.map(({ role }) => role)).toEqual([null, "worker-#"]);
  expect(shares[0]?.bars.map(({ text }) => text)).toEqual([
    "Locks 75 %, Running 25 %, Sleeping <1 %",
    "Running 50 %, Locks 50 %",
  ]);
  expect(shares[0]?.bars[0]?.parts.map(({ group }) => group)).toEqual([
    "running",
    "locks",
    "sleep",
  ]);
  expect(shares[1]?.bars.map(({ text }) => text)).toEqual(["not known", "Running >99 %"]);
});

it("has none without a ledger", () => {
  expect(stateShares(comparison([row("mean_cores", null, [1, 2])]))).toEqual([]);
});
