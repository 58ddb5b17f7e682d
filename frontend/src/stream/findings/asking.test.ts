import { describe, expect, it } from "vitest";
import { roleOf, texts, timesOf } from "../../testing/evidence";
import { factInput, factModel } from "../../testing/factModel";
import { ASKING_RULE, asking } from "./asking";
import type { Asking, ThreadTimes } from "./finding";

const MANY: Asking = {
  ...{ role: "node", peer: "process row-store (12)", connections: 2 },
  ...{ answers_per_s: 5000, others_per_s: 98, waiting: 0.4 },
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
  const input = factInput(
    factModel(
      ["loop-1", "loop-2"],
      [
        { t_s: 0, facts: { wakes: wakes(0) } },
        { t_s: 5, facts: { wakes: wakes(5) } },
        { t_s: 10, facts: { wakes: wakes(10) } },
      ],
    ),
  );
  const asked = (...pids: number[]) => pids.map((peer_pid) => ({ pid: 100, peer_pid, opened: 3 }));

  it("is known by the connections that the target opened; all others count as others", () => {
    expect(asking(input, asked(90, 91), POLLING)).toEqual([
      {
        ...{ role: "loop-#", peer: "2 processes of store", connections: 6 },
        ...{ answers_per_s: 500, others_per_s: 50, waiting: 0.5 },
      },
    ]);
    expect(asking(input, asked(91), POLLING)).toMatchObject([
      { peer: "process store (91)", connections: 3, answers_per_s: 200, others_per_s: 350 },
    ]);
  });

  it("is nobody without connections, or where no thread polls", () => {
    expect(asking(input, [], POLLING)).toEqual([]);
    expect(asking(input, asked(7), POLLING)).toEqual([]);
    const asleep = POLLING.map((thread) => ({ ...thread, ...timesOf(10, {}, { sleep: 5 }) }));
    expect(asking(input, asked(90), asleep)).toEqual([]);
  });
});
