import { within } from "@testing-library/react";
import { expect, it } from "vitest";
import { FIGURES } from "../../stream/poolLog";
import { FakeBackend } from "../../testing/backend";
import { factTables } from "../../testing/factModel";
import { frame, TARGET } from "../../testing/frames";
import { steadyWork } from "../../testing/ledgers";
import { TestPage } from "../../testing/TestPage";
import { linePath, stepPath } from "./PoolCharts";

function pool(number: number, t_s: number, per_s: number) {
  const jobs = per_s * t_s;
  return {
    ...{ pool: number, pid: 100, read_ns: Math.max(1, t_s * 1e9), known: 2 ** FIGURES.length - 1 },
    ...{ size: 3 + number, busy: 1, submitted: jobs, started: jobs, finished: jobs },
    ...{ response_ns: 2e7 * jobs, run_ns: 1e7 * jobs, queue_wait_ns: 1e7 * jobs },
    ...{ name: `pool-${number}`, kind: "threads", source: "agent" },
  };
}

async function watched(pools?: (t_s: number) => ReturnType<typeof pool>[]): Promise<TestPage> {
  const backend = new FakeBackend();
  backend.begin({ targets: [TARGET] });
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`, { backend });
  for (let t_s = 0; t_s <= 8; t_s++) {
    await page.frame(steadyWork(t_s, t_s === 0), {
      t_s,
      tables: pools ? factTables({ pools: pools(t_s) }) : {},
    });
    await page.pass(1000);
  }
  return page;
}

it("lists pools, and shows how one of them went", async () => {
  const page = await watched((t_s) => [pool(1, t_s, 20), pool(2, t_s, 50)]);
  const panel = page.region("Pools");
  const rows = panel.getAllByRole("row").filter((row) => row.dataset.key !== undefined);
  expect(rows.map((row) => row.dataset.key)).toEqual(["2", "1"]);
  expect(rows[0]?.textContent).toContain("50.0");
  // The busiest pool is shown until the user chooses another.
  expect(panel.getByRole("region", { name: "Pool pool-2" })).toBeTruthy();
  await page.click(panel.getByRole("button", { name: /pool-1/ }));
  const shown = within(panel.getByRole("region", { name: "Pool pool-1" }));
  expect(shown.getByRole("img", { name: /^Size: size 4, busy 1/ })).toBeTruthy();
  expect(shown.getByRole("img", { name: /^Operations: finished 20.0/ })).toBeTruthy();
  expect(shown.getByText("agent in the program, pid 100")).toBeTruthy();
});

it("says why there are none", async () => {
  const page = await watched();
  expect(page.one("[data-absent=pools]").textContent).toContain("No pools are reported");
});

it("says in a group which program a pool is of", async () => {
  const backend = new FakeBackend();
  const group = { ...({ kind: "unit", value: "web", name: "web", cgroup: "/web" } as const) };
  const how = { discovery: "ebpf", discovery_reason: "" } as const;
  const target = { ...TARGET, group: { ...group, ...how } };
  backend.begin({ targets: [target] });
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`, { backend });
  const counts = { live: 2, started: 0, ended: 0, unseen: 0, missed: 0 };
  for (let t_s = 0; t_s <= 4; t_s++) {
    const pools = [1, 2].map((n) => ({ ...pool(n, t_s, 10 * n), process: n, pid: 40 + n }));
    const processes = [1, 2].map((n) => ({
      ...{ process: n, pid: 40 + n, count: 1, live: 1, name: `web-${n}` },
    }));
    const tables = factTables({ pools, processes });
    const made = frame({ seq: t_s + 1, t_s, tables }, [
      { tid: 41, pid: 41, name: "web-1", counters: {} },
    ]);
    backend.frame({ ...made, header: { ...made.header, group: counts } });
    await page.pass(1000);
  }
  const panel = page.region("Pools");
  const rows = panel.getAllByRole("row").filter((row) => row.dataset.key !== undefined);
  expect(rows.map((row) => row.textContent)).toEqual([
    expect.stringContaining("web-2pid 42"),
    expect.stringContaining("web-1pid 41"),
  ]);
  expect(panel.getByText("agent in the program, web-2, pid 42")).toBeTruthy();
});

const PLOT = { t0_s: 10, t1_s: 20, width: 100, height: 50, most: 10 };
const values = Float64Array.of(5, Number.NaN, 10, 0);
const time_s = Float64Array.of(8, 12, 15, 20);

it("draws a line, broken where nothing is known, from the left edge on", () => {
  expect(linePath({ ...PLOT, time_s }, values)).toBe("M0 25M50 0L100 50");
});

it("holds a value until the next one", () => {
  expect(stepPath({ ...PLOT, time_s: Float64Array.of(10, 15) }, Float64Array.of(5, 10))).toBe(
    "M0 25H50V0H100",
  );
  expect(stepPath({ ...PLOT, time_s: Float64Array.of(10) }, Float64Array.of(Number.NaN))).toBe("");
});
