import { describe, expect, it } from "vitest";
import { texts, timesOf } from "../../testing/evidence";
import { stallsOf } from "./loopEvidence";
import { EVENT_LOOP_RULE, SATURATED_RULE } from "./loops";

describe("stalls of a busy loop", () => {
  const normal = { cpu_s: 0.1, calls: 6000 };

  it("are samples with hardly a call for their CPU time", () => {
    const series = [normal, normal, { cpu_s: 0.1, calls: 600 }, { cpu_s: 0.05, calls: 0 }, normal];
    const { stalls, stalled_s } = stallsOf([...series, ...series]);
    expect(stalls).toBe(2);
    expect(stalled_s).toBeCloseTo(2 * (0.09 + 0.05));
  });

  it("are found beside other programs, where samples have little CPU time", () => {
    const [served, computed] = [
      { cpu_s: 0.004, calls: 240 },
      { cpu_s: 0.004, calls: 0 },
    ];
    const series = [served, served, served, ...Array.from({ length: 9 }, () => computed)];
    const { stalls, stalled_s } = stallsOf([...series, ...series, ...series]);
    expect(stalls).toBe(3);
    expect(stalled_s).toBeCloseTo(3 * 0.036);
  });

  it("are none if it has no CPU, or if its rate changes little", () => {
    const series = [normal, { cpu_s: 0.001, calls: 0 }, { cpu_s: 0.1, calls: 4000 }, normal];
    expect(stallsOf(series).stalls).toBe(0);
    expect(stallsOf([]).stalls).toBe(0);
  });

  it("are none where calls or CPU time are unknown", () => {
    const unknown = { cpu_s: Number.NaN, calls: Number.NaN };
    expect(stallsOf([normal, unknown, normal]).stalls).toBe(0);
  });
});

describe("an event loop", () => {
  const loop = (polls: number, cpu: number, long = 0, long_s = 0, calls = 600, more = {}) => ({
    loops: [
      {
        thread: {
          ...{ key: "7@0", tid: 7, name: "node", role: "node", process: "" },
          ...{ born_s: -1, ended_s: Number.POSITIVE_INFINITY },
          ...timesOf(60, { cpu }, { poll: 60 - cpu }),
        },
        ...{ polls, calls, long, long_s, stalls: 0, stalled_s: 0, serves_per_s: 0 },
        ...{ held: 0, held_s: 0, held_in: null, listens: true },
        ...more,
      },
    ],
  });

  it("is no thread of Go, where others go on", () => {
    expect(texts(EVENT_LOOP_RULE, { ...loop(30_000, 40, 420, 28), go: true })).toEqual([]);
  });

  it("is blocked by long stretches on a CPU", () => {
    expect(texts(EVENT_LOOP_RULE, loop(30_000, 40, 420, 28))).toEqual([
      "The event loop of node (7) is blocked by computing: 66.7 ms and longer at a time, 66.7 % of all time, in which it answers nobody.",
    ]);
  });

  it("is blocked if it computes long between two polls, though often preempted", () => {
    expect(texts(EVENT_LOOP_RULE, loop(600, 12))).toEqual([
      "The event loop of node (7) is blocked by computing: 20.0 ms and longer at a time, 20.0 % of all time, in which it answers nobody.",
    ]);
  });

  it("is well if it polls often, or hardly computes", () => {
    expect(texts(EVENT_LOOP_RULE, loop(60_000, 50))).toEqual([]);
    expect(texts(EVENT_LOOP_RULE, loop(60, 3))).toEqual([]);
    expect(texts(EVENT_LOOP_RULE, loop(0, 50, 600, 50))).toEqual([]);
  });

  it("is not blocked but busy if it calls sockets all the time", () => {
    expect(texts(EVENT_LOOP_RULE, loop(600, 50, 420, 28, 400_000))).toEqual([]);
  });

  it("is blocked if it is busy and stops to call sockets again and again", () => {
    const stalled = loop(600, 50, 420, 28, 400_000, {
      stalls: 60,
      stalled_s: 12,
      serves_per_s: 8000,
    });
    expect(texts(EVENT_LOOP_RULE, stalled)).toEqual([
      "The event loop of node (7) is blocked by computing: 0.200 s on a CPU at a time, 20.0 % of all time, in which it answers nobody.",
    ]);
    const seldom = loop(600, 50, 420, 28, 400_000, {
      stalls: 2,
      stalled_s: 12,
      serves_per_s: 8000,
    });
    expect(texts(EVENT_LOOP_RULE, seldom)).toEqual([]);
    const brief = loop(600, 50, 420, 28, 400_000, { stalls: 60, stalled_s: 6, serves_per_s: 8000 });
    expect(texts(EVENT_LOOP_RULE, brief)).toEqual([]);
    // One sample each with few calls, as a healthy Redis has them on a busy machine.
    const short = { stalls: 200, stalled_s: 20, serves_per_s: 8000 };
    expect(texts(EVENT_LOOP_RULE, loop(600, 50, 420, 28, 400_000, short))).toEqual([]);
  });

  it("is blocked now and then if it else answers many at once", () => {
    expect(texts(EVENT_LOOP_RULE, loop(600_000, 50, 180, 18, 1_200_000))).toHaveLength(1);
  });
});

it("names a thread that runs all the time while others wait for it", () => {
  const busy = {
    key: "7@0",
    tid: 7,
    name: "net-loop",
    role: "net-loop",
    process: "",
    ...{ born_s: -1, ended_s: Number.POSITIVE_INFINITY },
    ...timesOf(60, { cpu: 59 }),
  };
  const wakee = (tid: number, blocked: number) => ({
    ...{ key: `${tid}@0`, tid, name: "w", kind: "role" as const, colour: 0 },
    ...{ per_s: 10, blocked, blocked_s: 0.1, delay_s: 0 },
  });
  const saturated = [{ thread: busy, wakees: [wakee(1, 0.8), wakee(2, 0.7)] }];
  expect(texts(SATURATED_RULE, { saturated })).toEqual([
    "net-loop (7) runs 98.3 % of the time, and 2 threads wait for it.",
  ]);
  const wakees = [wakee(1, 0.8), wakee(2, 0.7)];
  const queued = [{ wakees, thread: { ...busy, cpu: 40, queue: 18 } }];
  expect(texts(SATURATED_RULE, { saturated: queued })).toEqual([
    "net-loop (7) runs 66.7 % and waits for a CPU 30.0 % of the time, and 2 threads wait for it.",
  ]);
  const named = [{ wakees, thread: { ...busy, process: "nginx (4711)" } }];
  expect(texts(SATURATED_RULE, { saturated: named })[0]).toMatch(
    /^net-loop \(7\) of nginx \(4711\) runs/,
  );
  const alone = [{ thread: busy, wakees: [wakee(1, 1.8), wakee(7, 1)] }];
  expect(texts(SATURATED_RULE, { saturated: alone })).toEqual([]);
});
