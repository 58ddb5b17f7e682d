import { describe, expect, it } from "vitest";
import { factTables } from "../testing/factModel";
import { frame, type Row, TARGET } from "../testing/frames";
import { began, decided } from "../testing/steering";
import type { SteeringStarted, Target, TargetEvent } from "../wire/generated/models";
import type { ViewInput } from "./chartView";
import { FIGURES } from "./poolLog";
import { filterFrom } from "./rank";
import { operationLines, opsView, sizeView } from "./sizeView";
import { TargetModel } from "./targetModel";
import { opsTile } from "./tileView";
import { DEFAULT_REQUEST } from "./viewRequest";

const ROWS: Row[] = [{ tid: 1, start_s: 0, name: "main", counters: {} }];
const RELEASED: TargetEvent = {
  type: "steering_released",
  policy: "kalman-kg",
  size: 16,
  actor: "",
};

/** A model after frames at these moments, with their events; GOMAXPROCS only if given. */
function input(
  frames: readonly (readonly [t_s: number, events: readonly TargetEvent[], gomaxprocs?: number])[],
  from_s = 0,
): ViewInput {
  const model = new TargetModel();
  frames.forEach(([t_s, events, gomaxprocs], i) => {
    const reported = gomaxprocs === undefined ? {} : { gomaxprocs };
    model.ingest(frame({ seq: i + 1, t_s, events, ...reported }, ROWS));
  });
  const filter = filterFrom("");
  const now_s = model.now_s;
  const span = { t0_s: from_s, t1_s: Math.max(20, now_s) };
  return { model, target: TARGET, request: DEFAULT_REQUEST, filter, span, now_s };
}

const GROUP: Target = {
  ...TARGET,
  group: {
    ...{ kind: "cgroup", value: "/g", name: "/g", cgroup: "/g" },
    ...{ discovery: "ebpf", discovery_reason: "" },
  },
};
const KNOWN = (1 << FIGURES.indexOf("finished")) | (1 << FIGURES.indexOf("size"));
const POOL = began({ knob: "pool-agent", size: 4 });

describe("sizeView", () => {
  it("holds GOMAXPROCS while the program answers late, but not for ever", () => {
    const model = new TargetModel();
    const answers = [
      [0, 8, 0],
      [1, null, 1],
      [9, null, 5],
      [10, null, 6],
      [11, 4, 6],
    ] as const;
    answers.forEach(([t_s, gomaxprocs, gomaxprocs_missed], i) => {
      const process = { gomaxprocs, gomaxprocs_missed };
      model.ingest(frame({ seq: i + 1, t_s, process }, ROWS));
    });
    const changes = model.sizes.between(0, 20).map(({ t_s, value }) => [t_s, value]);
    expect(changes).toEqual([
      [0, 8],
      [10, Number.NaN],
      [11, 4],
    ]);
  });

  it("makes steps of GOMAXPROCS, with room above for the policy's name", () => {
    const view = sizeView(
      input([
        [0, [], 8],
        [1, [], 4],
        [2, [], 4],
      ]),
    );
    expect([view.state, view.step, view.y_max]).toEqual(["ok", true, 9.6]);
    expect([...view.time_s]).toEqual([0, 1, 2]);
    expect([...view.low]).toEqual([8, 4, 4]);
    expect(view.lines[0]).toMatchObject({ name: "GOMAXPROCS", last: 4 });
  });

  it("has a line for each Go program of a group, as the frames' tables and events say", () => {
    const { model } = input([[0, [], 4]]);
    const program = (pid: number, gomaxprocs: number, live = 1) => ({
      ...{ process: pid, pid, count: 1, live, name: "server", gomaxprocs },
    });
    const take = (t_s: number, rows: object[], events: readonly TargetEvent[] = []) => {
      const tables = factTables({ processes: rows });
      model.ingest(frame({ seq: 10 * t_s, t_s, gomaxprocs: 4, events, tables }, []));
    };
    take(1, [program(1, 4), program(7, 8), program(8, 0)]);
    take(2, [], [{ type: "gomaxprocs_changed", pid: 7, size: 2, previous: 8 }]);
    take(3, [program(7, 2), program(9, 6)]);
    take(4, [program(9, 6, 0)]);
    const view = sizeView({ ...input([[0, []]]), model, target: GROUP, now_s: 4 });
    expect(view.lines.map(({ name, pid, last }) => [name, pid, last])).toEqual([
      ["process 1", 1, 4],
      ["process 7", 7, 2],
      ["process 9", 9, Number.NaN],
    ]);
    // The table in the event's frame lacks its row.
    const at = (line: number) => [...view.low].slice(5 * line, 5 * line + 5);
    expect([...view.time_s]).toEqual([0, 1, 2, 3, 4]);
    expect(at(0)).toEqual([4, 4, 4, 4, 4]);
    expect(at(1)).toEqual([Number.NaN, 8, 2, 2, 2]);
    expect(at(2)).toEqual([Number.NaN, Number.NaN, Number.NaN, 6, Number.NaN]);
  });

  it("draws the programs that live before those that ended, and says how many it leaves out", () => {
    const { model } = input([[0, []]]);
    const rows = Array.from({ length: 24 }, (_, n) => ({
      ...{ process: n + 1, pid: 100 + n, count: 1, live: 1, name: "compile", gomaxprocs: 2 },
    }));
    model.ingest(frame({ seq: 2, t_s: 1, tables: factTables({ processes: rows }) }, []));
    const ended = rows.slice(0, 10).map((row) => ({ ...row, live: 0, gomaxprocs: 0 }));
    model.ingest(frame({ seq: 3, t_s: 2, tables: factTables({ processes: ended }) }, []));
    const view = sizeView({ ...input([[0, []]]), model, target: GROUP, now_s: 2 });
    expect([view.lines.length, view.others]).toEqual([16, 8]);
    expect(view.lines.filter(({ last }) => last === 2)).toHaveLength(14);
  });

  it("knows the size of another pool from what was decided", () => {
    const view = sizeView(
      input([
        [0, []],
        [1, [POOL]],
        [3.2, [decided(3, 4, 6)]],
        [4, [RELEASED]],
      ]),
    );
    expect(view.lines.map(({ name }) => name)).toEqual(["Pool size"]);
    expect([...view.time_s]).toEqual([1, 3, 4]);
    expect([...view.low]).toEqual([4, 6, 16]);
  });

  it("prefers what is read at each sample, but not for the size of a pool", () => {
    const go = sizeView(
      input([
        [0, [], 16],
        [1, [began()], 16],
        [3.2, [decided(3, 16, 12)], 12],
      ]),
    );
    expect([...go.time_s]).toEqual([0, 3.2]);
    const pool = sizeView(
      input([
        [0, [], 16],
        [1, [POOL], 16],
        [3.2, [decided(3, 4, 6)], 16],
      ]),
    );
    expect(pool.lines[0]).toMatchObject({ name: "Pool size", last: 6 });
  });

  it("has a second line of what a shadow would set", () => {
    const view = sizeView(
      input([
        [0, [], 16],
        [1, [began({ shadow: true })], 16],
        [3.2, [decided(3, 16, 16, { proposed: 12 })], 16],
        [5, [], 16],
      ]),
    );
    expect(view.lines.map(({ variant, last }) => [variant, last])).toEqual([
      [0, 16],
      [1, 12],
    ]);
    expect([...view.time_s]).toEqual([0, 1, 3, 5]);
    expect([...view.low]).toEqual([16, 16, 16, 16, Number.NaN, Number.NaN, 12, 12]);
  });

  it("is absent with its reason where nobody knows", () => {
    expect(sizeView(input([[1, []]]))).toMatchObject({
      state: "absent",
      reason: "not a Go program",
    });
  });
});

describe("opsView", () => {
  it("has a point at the end of each interval, and breaks where nothing steered", () => {
    const view = opsView(
      input([
        [0, []],
        [1, [POOL]],
        [3.2, [decided(3, 4, 6)]],
        [5.2, [decided(5, 6, 6, { ops: 3000 })]],
        [6, [RELEASED]],
        [12, [POOL]],
        [14.2, [decided(14, 4, 4)]],
      ]),
    );
    expect([view.state, view.unit, view.y_max]).toEqual(["ok", "1/s", 1500]);
    expect([...view.time_s]).toEqual([3, 5, 8.5, 14]);
    expect([...view.low]).toEqual([1000, 1500, Number.NaN, 1000]);
    expect(view.lines[0]?.last).toBe(1000);
  });

  it("reaches the left edge, and leaves the point before it out of the range", () => {
    const steered = input(
      [
        [0, [POOL]],
        [3.2, [decided(3, 4, 6, { ops: 8000 })]],
        [5.2, [decided(5, 6, 6)]],
      ],
      4,
    );
    const view = opsView(steered);
    expect([...view.time_s]).toEqual([3, 5]);
    expect(view.y_max).toBe(1000);
  });

  it("is in bytes a second where bytes stand in for operations", () => {
    const view = opsView(input([[0, [began({ signal: "network-bytes", proxy: true })]]]));
    expect([view.state, view.unit]).toEqual(["waiting", "bytes/s"]);
  });

  it("is absent while nothing steers", () => {
    expect(opsView(input([[1, []]])).state).toBe("absent");
    const over = input([
      [0, [POOL]],
      [3.2, [decided(3, 4, 6)]],
      [4, [RELEASED]],
    ]);
    expect(opsView(over).lines[0]?.last).toBeNaN();
  });
});

describe("operationLines", () => {
  const steady = { probing: false };
  const linesOf = (signal: Partial<SteeringStarted> = {}) =>
    operationLines(
      input([
        [0, [began(signal)]],
        [3.2, [decided(3, 4, 6, steady)]],
        [5.2, [decided(5, 6, 6, { ...steady, ops: 3000 })]],
        [7.2, [decided(7, 6, 2, { ops: 100, probing: true })]],
        [9.2, [decided(9, 6, 6, { ...steady, ops: 100, counted: false })]],
        [11.2, [decided(11, 6, 6, { ...steady, ops: 500 })]],
      ]),
    );

  it("have the rate of each interval at a size that a policy does not try", () => {
    expect(linesOf()).toEqual([
      {
        name: "",
        points: [
          { t_s: 3, value: 1000 },
          { t_s: 5, value: 1500 },
          { t_s: 7, value: Number.NaN },
          { t_s: 9, value: Number.NaN },
          { t_s: 11, value: 250 },
        ],
      },
    ]);
  });

  it("have no signal that stands in for operations", () => {
    expect(linesOf({ signal: "network-bytes", proxy: true })).toEqual([]);
  });
});

describe("a program that reports its pools", () => {
  /**
   * 4 workers and 10 jobs per second from 0 s to 8 s, read each second; steered according to
   * events.
   */
  function reported(events: Record<number, TargetEvent>, source = "agent"): ViewInput {
    const seen = input([[0, []]]);
    for (let t_s = 1; t_s <= 8; t_s++) {
      const row = {
        ...{ pool: 1, pid: 100, read_ns: t_s * 1e9, known: KNOWN },
        ...{ size: 4, finished: 10 * t_s, name: "requests", kind: "threads", source },
      };
      const [event] = [events[t_s]];
      const tables = factTables({ pools: [row] });
      seen.model.ingest(frame({ seq: t_s + 1, t_s, events: event ? [event] : [], tables }, ROWS));
    }
    return { ...seen, now_s: seen.model.now_s };
  }

  it("has those of its pools while nothing steers", () => {
    const view = opsView(reported({}));
    expect([view.state, view.unit, view.y_max]).toEqual(["ok", "1/s", 10]);
    expect(view.lines).toMatchObject([{ name: "pool requests", kind: "part", last: 10 }]);
    expect([...view.low].filter((value) => !Number.isNaN(value))).toEqual(Array(7).fill(10));
  });

  it("has decisions while a policy steers, and pools before and after", () => {
    const view = opsView(reported({ 3: POOL, 5: decided(5, 4, 4), 6: RELEASED }));
    expect(view.lines.map(({ name, last }) => [name, last])).toEqual([
      ["per second", Number.NaN],
      ["pool requests", 10],
    ]);
    const line = (i: number) => [...view.low].slice(i * view.columns, (i + 1) * view.columns);
    const known = (i: number) =>
      line(i).flatMap((value, at) => (Number.isNaN(value) ? [] : [view.time_s[at]]));
    expect(known(0)).toEqual([5]);
    expect(known(1)).toEqual([2, 6, 7, 8]);
  });

  it("has its sizes from what it reports while nothing steers, and else from the decisions", () => {
    const { low, ...unsteered } = sizeView(reported({}));
    expect(unsteered.lines).toMatchObject([{ name: "pool requests", kind: "part", last: 4 }]);
    expect([...low]).toEqual(Array(8).fill(4));
    const steered = sizeView(reported({ 3: POOL, 5: decided(5, 4, 6), 6: RELEASED }));
    expect(steered.lines.map(({ name }) => name)).toEqual(["Pool size", "pool requests"]);
    const line = (i: number) =>
      [...steered.low].slice(i * steered.columns, (i + 1) * steered.columns);
    expect([...steered.time_s]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const none = Number.NaN;
    expect(line(0)).toEqual([none, none, 4, 4, 6, none, none, none]);
    expect(line(1)).toEqual([4, 4, none, none, none, 4, 4, 4]);
  });

  it("does not know a size any more when no reading comes", () => {
    const { model, ...rest } = reported({});
    const late = { ...rest, model, now_s: 15, span: { t0_s: 0, t1_s: 15 } };
    expect(sizeView(late).lines[0]?.last).toBeNaN();
  });

  it("leaves out what the machine of a language does for itself", () => {
    const machine = reported({}, "hsperfdata");
    expect([opsView(machine).state, sizeView(machine).state]).toEqual(["absent", "absent"]);
  });
});

describe("opsTile", () => {
  it("is there while something steers, with the last interval", () => {
    expect(opsTile(input([[1, []]]))).toEqual([]);
    expect(opsTile(input([[1, [POOL]]]))).toMatchObject([{ state: "waiting", label: "Ops" }]);
    const made = opsTile(
      input([
        [1, [began({ proxy: true, signal: "network-calls" })]],
        [3.2, [decided(3, 4, 6)]],
      ]),
    );
    expect(made).toMatchObject([{ state: "ok", value: 1000, label: "Proxy signal" }]);
    expect(made[0]?.note).toContain("network calls, a proxy for operations");
    const over = input([
      [1, [POOL]],
      [4, [RELEASED]],
    ]);
    expect(opsTile(over)).toEqual([]);
  });
});
