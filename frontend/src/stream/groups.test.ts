/** A group of processes: rows, lines and sums of each level. */

import { describe, expect, it } from "vitest";
import { factTables } from "../testing/factModel";
import { FIELDS, frame, type Row, TARGET } from "../testing/frames";
import { chartView, chooseThreads, type ViewInput } from "./chartView";
import { movingRates } from "./currentRates";
import { processesView } from "./processesView";
import { filterFrom } from "./rank";
import { tableView } from "./tableView";
import { TargetModel } from "./targetModel";
import { DEFAULT_REQUEST, DEFAULT_TABLE, type Level, type ViewRequest } from "./viewRequest";

const cpu = (s: number) => ({ cpu_run_ns: 1e9 * s });

function inputOf(model: TargetModel, changes: Partial<ViewRequest> = {}): ViewInput {
  const request = { ...DEFAULT_REQUEST, ...changes };
  const span = { t0_s: 0, t1_s: model.now_s };
  const { filter } = request;
  return { model, target: TARGET, request, filter: filterFrom(filter), span, now_s: model.now_s };
}

/** Two servers of two workers each; one ends after the second sample. */
function twoServers(): TargetModel {
  const model = new TargetModel();
  const rows = (a: number, b: number): Row[] => [
    { tid: 10, pid: 10, name: "server", start_s: -5, counters: cpu(5) },
    { tid: 11, pid: 10, name: "worker-1", start_s: -5, counters: cpu(10 + a) },
    { tid: 20, pid: 20, name: "server", start_s: -5, counters: cpu(5) },
    { tid: 21, pid: 20, name: "worker-1", start_s: -5, counters: cpu(20 + b) },
    { tid: 22, pid: 20, name: "worker-2", start_s: -5, counters: cpu(20 + b) },
  ];
  model.ingest(frame({ seq: 1, t_s: 1, baseline: true }, rows(0, 0)));
  model.ingest(frame({ seq: 2, t_s: 2 }, rows(0.5, 0.25)));
  model.ingest(frame({ seq: 3, t_s: 3 }, rows(1, 0.5)));
  return model;
}

/** Last values of the lines of CPU, by name and pid. */
function lastOf(model: TargetModel, level: Level | null, filter = ""): Record<string, number> {
  const input = inputOf(model, { level, filter });
  const chosen = chooseThreads(input, "cpu_total", new Set());
  const view = chartView(input, { chart: "cpu_total", width_px: 400, in_view: true }, chosen);
  return Object.fromEntries(
    view.lines.map(({ name, pid, last }) => [pid ? `${name} ${pid}` : name, last]),
  );
}

describe("lines of levels", () => {
  it("are of processes in a group, unless something else is asked for", () => {
    const model = twoServers();
    const byProcess = { "server 10": 1, "server 20": 1, others: 0 };
    expect(lastOf(model, null)).toEqual(byProcess);
    expect(lastOf(model, "process")).toEqual(byProcess);
    expect(lastOf(model, "role")).toEqual({ "worker-#": 2, others: 0 });
    expect(lastOf(model, "thread")).toEqual({
      "worker-1": 0.5,
      "worker-2": 0.5,
      others: 0,
    });
  });

  it("keep what ended threads did, under the same colour", () => {
    const model = twoServers();
    const [before] = [...model.levels.processes()].filter(({ pid }) => pid === 20);
    const exit = (tid: number, s: number) =>
      ({
        type: "thread_exited",
        ...{
          tid,
          pid: 20,
          start_ns: -5e9,
          name: tid === 20 ? "server" : "worker",
          exact: true,
          seen_alive: true,
        },
        lifetime_ns: 8.5e9,
        totals: cpu(s),
      }) as const;
    const exited = { threads: 3, totals: cpu(5 + 21 + 21) };
    model.ingest(
      frame({ seq: 4, t_s: 4, events: [exit(20, 5), exit(21, 21), exit(22, 21)], exited }, []),
    );
    expect(lastOf(model, "process")).toEqual({ "server 20": 2, "server 10": 1, others: 0 });
    const [after] = [...model.levels.processes()].filter(({ pid }) => pid === 20);
    expect(after?.end_s).toBe(4);
    expect(after?.colour).toBe(before?.colour);
    expect(after?.slot).toBe(before?.slot);
  });

  it("are filtered by name, pid and title of the process", () => {
    const model = twoServers();
    expect(Object.keys(lastOf(model, "process", "^20$"))).toEqual(["server 20", "others"]);
    expect(Object.keys(lastOf(model, "thread", "^20$"))).toEqual([
      "worker-1",
      "worker-2",
      "others",
    ]);
  });

  it("are of threads in a target of one process", () => {
    const model = new TargetModel();
    const rows = (s: number): Row[] => [{ tid: 1, name: "main", start_s: 0, counters: cpu(s) }];
    model.ingest(frame({ seq: 1, t_s: 1 }, rows(1)));
    model.ingest(frame({ seq: 2, t_s: 2 }, rows(2)));
    expect(lastOf(model, null)).toEqual({ main: 1, others: 0 });
    expect(lastOf(model, "process")).toEqual({ main: 1, others: 0 });
  });
});

it("keeps a process that another of its threads turned into another program", () => {
  const model = new TargetModel();
  model.ingest(frame({ seq: 1, t_s: 1 }, [{ tid: 7, pid: 7, name: "sh", counters: cpu(1) }]));
  const { totals, ...of } = { totals: cpu(1), tid: 7, pid: 7, start_ns: 0 };
  model.ingest(
    frame(
      {
        seq: 2,
        t_s: 2,
        events: [
          {
            type: "thread_exited",
            ...of,
            name: "sh",
            exact: false,
            seen_alive: true,
            lifetime_ns: null,
            totals,
          },
          { type: "thread_born", ...of, start_ns: 2e9, name: "cc1" },
        ],
        exited: { threads: 1, totals },
      },
      [],
    ),
  );
  const lives = [...model.levels.processes()];
  expect(lives.map(({ pid, name, end_s }) => [pid, name, end_s])).toEqual([[7, "cc1", null]]);
});

it("does not grow with processes that come and go", () => {
  const model = new TargetModel();
  model.ingest(frame({ seq: 1, t_s: 1 }, [{ tid: 1, pid: 1, name: "sh", counters: cpu(0) }]));
  let done = 0;
  const second = (seq: number): void => {
    const events = Array.from({ length: 80 }, (_, i) => {
      done += 0.001;
      const of = { tid: 1000 * seq + i, pid: 1000 * seq + i, start_ns: 1e9 * seq };
      const exit = {
        type: "thread_exited",
        ...of,
        name: "cc1",
        exact: true,
        seen_alive: false,
      } as const;
      return { ...exit, lifetime_ns: 5e6, totals: cpu(0.001) };
    });
    const exited = { threads: 80 * (seq - 1), totals: cpu(done) };
    model.ingest(frame({ seq, t_s: seq, events, exited }, []));
  };
  for (let seq = 2; seq <= 40; seq++) second(seq);
  const { slots } = model.threads;
  for (let seq = 41; seq <= 120; seq++) second(seq);
  expect(model.threads.slots).toBe(slots);
  expect(model.levels.ended.length).toBeLessThanOrEqual(300);
  // Nothing is lost: the thread is among the others, or in the role's line.
  const sum = Object.values(lastOf(model, "process")).reduce((a, b) => a + b, 0);
  expect(sum).toBeCloseTo(done, 6);
  expect(lastOf(model, "role").cc1).toBeCloseTo(done, 6);
});

describe("the tree of the table", () => {
  const rowsOf = (open: readonly string[], filter = "") => {
    const model = twoServers();
    const asked = { ...DEFAULT_TABLE, group: "process", open } as const;
    const view = tableView(inputOf(model, { filter }), movingRates(model), asked);
    return view.rows.map(({ kind, depth, open: unfolded, name, tid, process, totals, key }) => ({
      ...{ kind, depth, unfolded, name, tid, pid: process?.pid, key },
      cpu: (totals[FIELDS.indexOf("cpu_run_ns")] ?? 0) / 1e9,
    }));
  };

  it("has processes, below them roles, below them threads, with sums on each level", () => {
    const closed = rowsOf([]);
    expect(closed.map(({ pid, cpu: s }) => [pid, s])).toEqual([
      [10, 16],
      [20, 46],
    ]);
    const key = closed[1]?.key ?? "";
    const role = `${key}/role:worker-#`;
    const rows = rowsOf([key, role]).slice(1);
    expect(
      rows.map(({ kind, depth, unfolded, name, cpu: s }) => [kind, depth, unfolded, name, s]),
    ).toEqual([
      ["process", 1, true, "server", 46],
      ["role", 2, true, "worker-#", 41],
      ["thread", 3, null, "worker-1", 20.5],
      ["thread", 3, null, "worker-2", 20.5],
      ["thread", 2, null, "server", 5],
    ]);
  });

  it("is filtered on all levels", () => {
    expect(rowsOf([], "worker-2").map(({ pid, cpu: s }) => [pid, s])).toEqual([[20, 20.5]]);
  });
});

it("lists processes with what the frames say of them, ended ones folded", () => {
  const model = twoServers();
  const rows = [
    { process: 1, pid: 10, count: 1, live: 1, name: "server", title: "server: idle", cpu_ns: 7e9 },
    { process: 2, pid: 20, count: 1, live: 1, name: "server", title: "", cpu_ns: 9e9, parent: 1 },
    { process: 3, pid: 0, count: 340, live: 0, name: "cc1", title: "", cpu_ns: 60e9 },
  ];
  model.ingest(frame({ seq: 4, t_s: 4, tables: factTables({ processes: rows }) }, []));
  const view = processesView(inputOf(model));
  expect(
    view.rows.map(({ pid, count, live, cores, parent, cpu_ns }) => [
      ...[pid, count, live, parent, cpu_ns, Math.round(100 * cores) / 100],
    ]),
  ).toEqual([
    [20, 1, true, "server (10)", 9e9, 0.33],
    [10, 1, true, "", 7e9, 0.33],
    [null, 340, false, "", 60e9, Number.NaN],
  ]);
  // A row without processes is gone.
  const gone = factTables({ processes: [{ process: 3 }] });
  model.ingest(frame({ seq: 5, t_s: 5, tables: gone }, []));
  expect(processesView(inputOf(model)).rows.map(({ pid }) => pid)).toEqual([20, 10]);
  const named = inputOf(model, { filter: "idle" });
  expect(processesView(named).rows.map(({ pid }) => pid)).toEqual([10]);
});
