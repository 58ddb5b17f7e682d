import { describe, expect, it } from "vitest";
import { SECONDS, texts, timesOf } from "../../testing/evidence";
import type { StateId } from "../states";
import { born, COHORT_RULE } from "./cohorts";
import type { ThreadTimes } from "./finding";

function thread(tid: number, states: Partial<Record<StateId, number>>, idle = 0): ThreadTimes {
  return {
    ...{ key: `${tid}@0`, tid, name: "node", role: "node", process: "" },
    ...{ born_s: -9, ended_s: Number.POSITIVE_INFINITY },
    ...timesOf(SECONDS, { idle }, states),
  };
}

describe("a pool behind an event loop", () => {
  /** Seconds in which each of four threads waits for work, and how often each wakes the loop. */
  const evidence = (waiting: number, least_per_s: number, polling = 50) => ({
    cohorts: [
      {
        main: thread(7, { poll: polling }),
        threads: [8, 9, 10, 11].map((tid) =>
          thread(tid, { pipe: SECONDS - waiting, futex: waiting }, waiting),
        ),
        ...{ wakes_per_s: 4 * least_per_s, least_per_s },
      },
    ],
  });

  it("is full if its threads never wait for work", () => {
    expect(texts(COHORT_RULE, evidence(1, 2))).toEqual([
      "All 4 threads of the pool behind the event loop of node (7) are busy all the time: they mostly wait for pipes or devices, and what comes beside has to queue while the loop waits.",
    ]);
  });

  it("is not full if they wait for work, never wake the loop, or if that does not poll", () => {
    expect(texts(COHORT_RULE, evidence(10, 2))).toEqual([]);
    expect(texts(COHORT_RULE, evidence(0, 0))).toEqual([]);
    expect(texts(COHORT_RULE, evidence(0, 2, 0))).toEqual([]);
    expect(texts(COHORT_RULE, { ...evidence(0, 2), go: true })).toEqual([]);
  });
});

describe("threads that began together", () => {
  const at = (tid: number, born_s: number): ThreadTimes => ({ ...thread(tid, {}), born_s });
  const tids = (threads: readonly ThreadTimes[], wakers: readonly number[]) =>
    born(threads, ({ tid }) => wakers.includes(tid)).map((group) => group.map(({ tid }) => tid));

  it("are a pool from the first one on that wakes the loop", () => {
    // Threads of Node 20: four helpers of V8, one of the debugger, four of the pool.
    const started = [-9.03, -9.03, -9.03, -9.03, -9.01, -9, -9, -9, -9].map((born_s, tid) =>
      at(tid, born_s),
    );
    expect(tids(started, [5, 6, 7, 8])).toEqual([[5, 6, 7, 8]]);
    // One that has no work is of the pool.
    expect(tids(started, [5, 8])).toEqual([[5, 6, 7, 8]]);
    expect(tids(started, [])).toEqual([]);
  });
});
