import { describe, expect, it } from "vitest";
import { type FactRow, type FactRows, factInput, factModel } from "../testing/factModel";
import { COLUMNS } from "../wire/generated/frameTables";
import { FIGURES } from "./poolLog";
import { poolsView } from "./poolsView";

const ALL = 2 ** FIGURES.length - 1;

/** A pool that finishes 10 jobs per second; each waits 50 ms and runs 100 ms; 4 workers. */
function pool(t_s: number, more: FactRow<"pools"> = {}): FactRow<"pools"> {
  const jobs = 10 * t_s;
  return {
    ...{
      pool: 1,
      pid: 100,
      read_ns: Math.max(1, t_s * 1e9),
      known: ALL,
      size: 4,
      busy: 1,
      queue: 0,
    },
    ...{ submitted: jobs + 5, started: jobs, finished: jobs, failed: t_s },
    ...{ response_ns: 1.5e8 * jobs, run_ns: 1e8 * jobs, queue_wait_ns: 5e7 * jobs },
    ...{ idle_ns: 3e9 * t_s, name: "requests", kind: "threads", source: "agent" },
    ...more,
  };
}

function times(t_s: number): FactRow<"pool_times">[] {
  // Bucket 17 has times from 67 to 134 ms.
  return [
    { pool: 1, time: 0, bucket: 17, count: 9 * t_s },
    { pool: 1, time: 0, bucket: 20, count: t_s },
    { pool: 1, time: 1, bucket: 16, count: 10 * t_s },
  ];
}

function watched(tables: (t_s: number) => FactRows, seconds = 10) {
  const instants = Array.from({ length: seconds + 1 }, (_, t_s) => ({ t_s, facts: tables(t_s) }));
  return poolsView(factInput(factModel(["main"], instants)));
}

it("knows the columns that may be unknown, in the order of the table", () => {
  const columns = Object.keys(COLUMNS.pools);
  const [from, to] = [columns.indexOf("known") + 1, columns.indexOf("name")];
  expect(columns.slice(from, to)).toEqual(FIGURES);
});

describe("pools within a window", () => {
  it("have rates, times and load", () => {
    const view = watched((t_s) => ({ pools: [pool(t_s)], pool_times: times(t_s) }));
    expect(view.state).toBe("ok");
    const [row] = view.pools;
    expect(row).toMatchObject({ name: "requests", size: 4, finished: 100, current: true });
    expect(row?.finished_per_s).toBeCloseTo(10);
    expect(row?.failed_per_s).toBeCloseTo(1);
    expect(row?.response.mean_s).toBeCloseTo(0.15);
    expect(row?.queue_wait.mean_s).toBeCloseTo(0.05);
    expect(row?.run_mean_s).toBeCloseTo(0.1);
    expect(row?.load).toBeCloseTo(0.25);
    expect(row?.idle).toBeCloseTo(3);
    // Nine of ten are in the bucket up to 134 ms, the tenth in the one from 0.54 to 1.07 s.
    expect(row?.response.p50_s).toBeGreaterThan(0.067);
    expect(row?.response.p50_s).toBeLessThan(0.134);
    expect(row?.response.p99_s).toBeGreaterThan(0.536);
    expect(row?.relative_ait).toBeNaN();
  });

  it("do not know what the program does not say", () => {
    const known = 2 ** FIGURES.indexOf("size") + 2 ** FIGURES.indexOf("finished");
    const [row] = watched((t_s) => ({ pools: [pool(t_s, { known })] })).pools;
    expect(row?.finished_per_s).toBeCloseTo(10);
    for (const figure of [row?.busy, row?.submitted, row?.response.p50_s, row?.load, row?.idle]) {
      expect(figure).toBeNaN();
    }
  });

  it("have quantiles of waits where only their histogram is known, as of goroutines", () => {
    const known = 2 ** FIGURES.indexOf("size");
    const [row] = watched((t_s) => ({
      pools: [pool(t_s, { known })],
      pool_times: times(t_s),
    })).pools;
    expect(row?.queue_wait.mean_s).toBeNaN();
    expect(row?.queue_wait.p50_s).toBeGreaterThan(0.033);
    expect(row?.queue_wait.p99_s).toBeLessThan(0.068);
  });

  it("compare how long jobs waited at the smallest size and at the last one", () => {
    // Jobs wait 200 ms at size 2, and 20 ms at size 8.
    const waited = (t_s: number) => 10 * (0.2e9 * Math.min(t_s, 5) + 0.02e9 * Math.max(t_s - 5, 0));
    const [row] = watched((t_s) => ({
      pools: [pool(t_s, { size: t_s <= 5 ? 2 : 8, queue_wait_ns: waited(t_s) })],
    })).pools;
    expect(row?.relative_ait).toBeCloseTo(10);
    expect(row?.ait_size).toBe(2);
    expect(row?.series.size.at(0)).toBe(2);
    expect(row?.series.size.at(-1)).toBe(8);
    expect(row?.series.finished_per_s.at(-1)).toBeCloseTo(10);
  });

  it("stand in the order of what they finish, and are listed when they have ended", () => {
    const view = watched((t_s) => ({
      pools: [...(t_s < 3 ? [pool(t_s, { pool: 2, name: "short", finished: 1 })] : []), pool(t_s)],
    }));
    expect(view.pools.map(({ name, current }) => [name, current])).toEqual([
      ["requests", true],
      ["short", false],
    ]);
  });
});

it("are current as long as the gaps between their readings let it be", () => {
  const current = (now_s: number) => {
    const read = [0, 6, 12].map((t_s) => ({ t_s, facts: { pools: [pool(t_s)] } }));
    const model = factModel(["main"], [...read, { t_s: now_s, facts: {} }]);
    return poolsView(factInput(model)).pools[0]?.current;
  };
  expect([current(24), current(36)]).toEqual([true, false]);
});

it("name the programs that they are of, those that have ended, too", () => {
  const instants = [0, 1, 2].map((t_s) => ({
    t_s,
    facts: {
      pools: [pool(t_s, { process: 7, pid: 20 })],
      processes: t_s === 0 ? [{ process: 7, pid: 20, count: 1, live: 1, name: "server" }] : [],
    },
  }));
  const model = factModel(["main"], instants);
  expect(poolsView(factInput(model)).pools[0]).toMatchObject({ program: "server", pid: 20 });
  model.processes.rows.clear();
  expect(poolsView(factInput(model)).pools[0]?.program).toBe("server");
});

it("says why there are none, once readings should have come", () => {
  expect(watched(() => ({}), 2).state).toBe("waiting");
  const view = watched(() => ({}), 8);
  expect([view.state, view.pools.length]).toEqual(["absent", 0]);
  expect(view.reason).toContain("no agent");
});
