import { describe, expect, it } from "vitest";
import { roleOf, texts, timesOf } from "../../testing/evidence";
import { factInput, factTables } from "../../testing/factModel";
import { frame } from "../../testing/frames";
import { TargetModel } from "../targetModel";
import { ASKING_RULE, asking } from "./asking";
import type { Asking, ThreadTimes } from "./finding";

const MANY: Asking = {
  ...{ role: "node", peer: "process row-store (12)", connections: 2 },
  ...{ answers_per_s: 5000, others_per_s: 98, waiting: 0.4, listening: 0.5, writes_per_s: 5000 },
};

it("says who is asked many small questions, if little else happens", () => {
  const sentences = (more: Partial<Asking>, shown: string[] = []) =>
    texts(ASKING_RULE, { roles: [roleOf("node", 1)], asking: [{ ...MANY, ...more }] }, shown);
  expect(sentences({})).toEqual([
    "node asks process row-store (12) 5.00 k times a second, many small questions after each other: all others wake it 98.0 times a second.",
  ]);
  expect(sentences({ others_per_s: 300 })).toEqual([]);
  expect(sentences({ others_per_s: 300 }, ["asking:role:node"])).toHaveLength(1);
  // Many connections, with a question now and then at each.
  expect(sentences({ connections: 40 })).toEqual([]);
  expect(sentences({ answers_per_s: 300, others_per_s: 1 })).toEqual([]);
});

it("says who answers late, if a question comes before each answer", () => {
  const sentences = (more: Partial<Asking>) => {
    const late = {
      answers_per_s: 20,
      others_per_s: 3,
      waiting: 5.8,
      listening: 6,
      writes_per_s: 20,
    };
    return texts(ASKING_RULE, {
      roles: [roleOf("pool-#", 6)],
      asking: [{ ...MANY, role: "pool-#", ...late, ...more }],
    });
  };
  expect(sentences({})).toEqual([
    "pool-# waits for answers of process row-store (12) 96.7 % of the time in which it waits for sockets, 0.290 s each time.",
  ]);
  // Subscribers wait for news, and write seldom.
  expect(sentences({ writes_per_s: 1 })).toEqual([]);
  expect(sentences({ answers_per_s: 400, writes_per_s: 400 })).toEqual([]);
  expect(sentences({ listening: 20 })).toEqual([]);
  expect(sentences({ waiting: 0.4, listening: 0.5 })).toEqual([]);
});

describe("who is asked", () => {
  const POLLING: ThreadTimes[] = [1, 2].map((tid) => ({
    ...{ key: `${tid}@0`, tid, name: `loop-${tid}`, role: "loop-#", process: "" },
    ...{ born_s: -9, ended_s: Number.POSITIVE_INFINITY },
    ...timesOf(10, {}, { poll: 5 }),
  }));
  const row = (waker_pid: number, wakee_tid: number, count: number, waker_name: string) => ({
    ...{ waker_pid, waker_tid: waker_pid, wakee_tid, waker_name },
    ...{ count, blocked_ns: 1e6 * count },
  });
  const wakes = (t_s: number) => [
    row(90, 1, 300 * t_s, "store"),
    row(91, 2, 200 * t_s, "store"),
    row(92, 2, 40 * t_s, "wrk"),
    row(0, 1, 10 * t_s, "interrupt"),
    row(100, 1, 70 * t_s, "own"),
  ];
  const model = new TargetModel();
  for (const [i, t_s] of [0, 5, 10].entries()) {
    const rows = POLLING.map(({ tid, name }) => {
      const row = { tid, counters: { cpu_run_ns: 0 } };
      return i === 0 ? { ...row, start_s: -10, name } : row;
    });
    const made = frame({ seq: i + 1, t_s, tables: factTables({ wakes: wakes(t_s) }) }, rows);
    model.ingest({
      ...made,
      fields: [...made.fields, "net_write_calls"],
      columns: [...made.columns, Float64Array.of(300 * t_s, 100 * t_s)],
    });
  }
  const input = factInput(model);
  const asked = (...pids: number[]) => pids.map((peer_pid) => ({ pid: 100, peer_pid, opened: 3 }));

  it("is known by the connections that the target opened; all others count as others", () => {
    expect(asking(input, asked(90, 91), POLLING, 10)).toEqual([
      {
        ...{ role: "loop-#", peer: "2 processes of store", connections: 6 },
        ...{ answers_per_s: 500, others_per_s: 50, waiting: 0.5, listening: 1, writes_per_s: 400 },
      },
    ]);
    expect(asking(input, asked(91), POLLING, 10)).toMatchObject([
      { peer: "process store (91)", connections: 3, answers_per_s: 200, others_per_s: 350 },
    ]);
  });

  it("is nobody without connections, or where no thread polls", () => {
    expect(asking(input, [], POLLING, 10)).toEqual([]);
    expect(asking(input, asked(7), POLLING, 10)).toEqual([]);
    const asleep = POLLING.map((thread) => ({ ...thread, ...timesOf(10, {}, { sleep: 5 }) }));
    expect(asking(input, asked(90), asleep, 10)).toEqual([]);
  });
});
