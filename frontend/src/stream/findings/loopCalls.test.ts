import { describe, expect, it } from "vitest";
import { SECONDS, texts, timesOf } from "../../testing/evidence";
import type { EventLoop } from "./finding";
import { LOOP_CALL_RULE } from "./loopCalls";
import { sleepsAtFutexes } from "./loopEvidence";

describe("an event loop that waits in calls", () => {
  const loop = (more: Partial<EventLoop> = {}) => ({
    loops: [
      {
        thread: {
          ...({ key: "7@0", tid: 7, name: "python", role: "python", process: "" } as const),
          ...{ born_s: -1, ended_s: Number.POSITIVE_INFINITY },
          ...timesOf(SECONDS, { cpu: 3 }, { poll: 27, sleep: 30 }),
        },
        ...{ polls: 6000, calls: 12_000, long: 0, long_s: 0 },
        ...{ stalls: 0, stalled_s: 0, serves_per_s: 0 },
        ...{ held: 180, held_s: 20, held_in: "sleep" as const, listens: true },
        ...more,
      },
    ],
  });

  it("is named with the call, how often and for how long", () => {
    expect(texts(LOOP_CALL_RULE, loop())).toEqual([
      "The event loop of python (7) sleeps in a call 3.00 times a second, 0.167 s each time, in which it answers nobody: 50.0 % of all time.",
    ]);
  });

  it("is none that serves one at a time, is hardly held up, or asks instead of answering", () => {
    expect(texts(LOOP_CALL_RULE, loop({ polls: 200 }))).toEqual([]);
    expect(texts(LOOP_CALL_RULE, loop({ held_s: 3 }))).toEqual([]);
    expect(texts(LOOP_CALL_RULE, loop({ listens: false }))).toEqual([]);
    expect(texts(LOOP_CALL_RULE, loop({ calls: 60 }))).toEqual([]);
    expect(texts(LOOP_CALL_RULE, { ...loop(), go: true })).toEqual([]);
  });
});

describe("a thread of a JVM that polls", () => {
  const parked = { parked: 60, parked_s: 10 };
  const timers = { kind: "interrupt" as const, per_s: 2, blocked: 0.2 };
  const asking = { kind: "role" as const, per_s: 90, blocked: 0.6 };
  const of = { seconds: SECONDS, polling_s: 40, alone: true };

  it("sleeps if timers end its long waits, whoever ends its polls", () => {
    expect(sleepsAtFutexes(parked, [timers, asking], of)).toBe(true);
    expect(sleepsAtFutexes(parked, [timers], { ...of, alone: false })).toBe(true);
  });

  it("does not if it never waits long, or others may have ended that", () => {
    expect(sleepsAtFutexes({ parked: 0, parked_s: 0 }, [timers], of)).toBe(false);
    expect(sleepsAtFutexes(parked, [{ ...timers, blocked: 0.05 }], of)).toBe(false);
    expect(sleepsAtFutexes(parked, [timers, asking], { ...of, alone: false })).toBe(false);
    expect(sleepsAtFutexes(parked, [timers, { ...asking, blocked: 0.8 }], of)).toBe(false);
  });
});
