import { describe, expect, it } from "vitest";
import { SECONDS, texts, timesOf } from "../../testing/evidence";
import type { EventLoop } from "./finding";
import { LOOP_CALL_RULE } from "./loopCalls";

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
  });
});
