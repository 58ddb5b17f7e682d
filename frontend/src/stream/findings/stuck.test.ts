import { describe, expect, it } from "vitest";
import { lockOf, lockThread, roleOf, texts, timesOf } from "../../testing/evidence";
import type { StateId } from "../states";
import type { StuckThread, ThreadTimes } from "./finding";
import { DEADLOCK_RULE, KEPT_RULE, UNRELEASED_RULE } from "./stuck";

function threadOf(tid: number, states: Partial<Record<StateId, number>> = {}): ThreadTimes {
  return {
    ...{ key: `${tid}@0`, tid, name: `worker-${tid}`, role: "worker-#", process: "" },
    ...{ born_s: -1, ended_s: Number.POSITIVE_INFINITY },
    ...timesOf(60, {}, states),
  };
}

const threads = new Map(Array.from({ length: 9 }, (_, tid) => [tid, threadOf(tid)]));
const { lock } = lockOf("lock", [lockThread(1, 0)], []);

/** A thread that waits for a lock that another holds; null: not known. */
function stuck(tid: number, holder: number | null, number = tid, seconds = 30): StuckThread {
  return {
    thread: threads.get(tid) ?? threadOf(tid),
    seconds,
    number,
    lock: holder === null ? null : { ...lock, lock: number, name: `mutex_${number}` },
    holder: holder === null ? null : (threads.get(holder) ?? threadOf(holder)),
  };
}

describe("threads that wait for each other's locks", () => {
  const circle = [stuck(1, 2), stuck(2, 1)];

  it("are in a deadlock, with those behind them", () => {
    expect(texts(DEADLOCK_RULE, { stuck: [...circle, stuck(3, 2, 1), stuck(4, 3, 7)] })).toEqual([
      "Deadlock: 2 threads have waited in a circle for 30 s: worker-1 (1) waits for “mutex_1”, worker-2 (2) waits for “mutex_2”; 2 more threads wait behind them.",
    ]);
    expect(texts(DEADLOCK_RULE, { stuck: [...circle, stuck(5, 6), stuck(6, 5)] })).toHaveLength(2);
    expect(texts(KEPT_RULE, { stuck: [...circle, stuck(3, 2, 1)] })).toEqual([]);
  });

  it("are in one alone if they wait for what they hold", () => {
    expect(texts(DEADLOCK_RULE, { stuck: [stuck(1, 1)] })).toEqual([
      "Deadlock: worker-1 (1) has waited for “mutex_1” for 30 s and holds it itself.",
    ]);
  });

  it("are in none if a wait is short, in no circle, or the holder is not known", () => {
    expect(texts(DEADLOCK_RULE, { stuck: [stuck(1, 2), stuck(2, 1, 2, 9)] })).toEqual([]);
    expect(texts(DEADLOCK_RULE, { stuck: [stuck(1, 2), stuck(2, 3)] })).toEqual([]);
    expect(texts(DEADLOCK_RULE, { stuck: [stuck(1, null), stuck(2, null)] })).toEqual([]);
  });
});

describe("a lock that is not released", () => {
  it("is named with its holder and all who wait behind it", () => {
    expect(texts(KEPT_RULE, { stuck: [stuck(1, 3, 5), stuck(2, 3, 5), stuck(4, 2, 6)] })).toEqual([
      "3 threads waited for “mutex_5” for 30 s and longer: worker-3 (3) holds it and did not release it.",
    ]);
  });

  it("is none at which threads take turns to wait for work", () => {
    const accepting = { ...stuck(1, 3, 5), holder: threadOf(3, { socket_accept: 59 }) };
    expect(texts(KEPT_RULE, { stuck: [accepting] })).toEqual([]);
  });
});

describe("locks that nobody releases", () => {
  const roles = [roleOf("worker-#", 2), roleOf("main", 1)];
  const held = (tid: number, number: number, seconds = 30): StuckThread => ({
    ...stuck(tid, null, number, seconds),
    lock,
  });

  it("stop a program if no thread is left", () => {
    const all = [held(1, 5), held(2, 6), stuck(3, null)];
    expect(texts(UNRELEASED_RULE, { roles, stuck: all })).toEqual([
      "All 3 threads have waited at locks for 30 s, and none is left to let them go on: a deadlock of worker-1 (1), worker-2 (2), unless a signal releases their locks.",
    ]);
  });

  it("are named with the threads that wait while others go on", () => {
    expect(texts(UNRELEASED_RULE, { roles, stuck: [held(1, 5), held(2, 6)] })).toEqual([
      "2 threads have waited for 30 s for 2 locks that nobody releases: worker-1 (1), worker-2 (2). It is a deadlock if they hold each other’s.",
    ]);
  });

  it("are none at which threads may wait for work, or one lock alone, or for a short time", () => {
    const idle = [stuck(1, null), stuck(2, null), stuck(3, null)];
    expect(texts(UNRELEASED_RULE, { roles, stuck: idle })).toEqual([]);
    const one = [held(1, 5), held(2, 5), stuck(3, null)];
    expect(texts(UNRELEASED_RULE, { roles, stuck: one })).toEqual([]);
    expect(texts(UNRELEASED_RULE, { roles, stuck: [held(1, 5), held(2, 6, 9)] })).toEqual([]);
    expect(texts(UNRELEASED_RULE, { roles, stuck: [stuck(1, 2), stuck(2, 1)] })).toEqual([]);
  });
});
