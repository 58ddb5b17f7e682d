import { describe, expect, it } from "vitest";
import { lockOf, lockThread, roleOf, texts, timesOf } from "../../testing/evidence";
import type { StateId } from "../states";
import type { StuckThread, ThreadTimes } from "./finding";
import { ALL_STUCK_RULE, DEADLOCK_RULE, KEPT_RULE } from "./stuck";

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

describe("a program that stands still", () => {
  const roles = [roleOf("worker-#", 2), roleOf("main", 1)];
  const all = [stuck(1, null), stuck(2, null), stuck(3, null)];

  it("has no thread that could let others go on", () => {
    const [text] = texts(ALL_STUCK_RULE, { roles, stuck: all });
    expect(text).toContain("All 3 threads have waited at locks for 30 s, and none is left");
  });

  it("is none with a thread that waits for something else, of Go, or in a known deadlock", () => {
    expect(texts(ALL_STUCK_RULE, { roles, stuck: all.slice(1) })).toEqual([]);
    expect(texts(ALL_STUCK_RULE, { roles, stuck: all, go: true })).toEqual([]);
    const known = [stuck(1, 2), stuck(2, 1), stuck(3, null)];
    expect(texts(ALL_STUCK_RULE, { roles, stuck: known })).toEqual([]);
    expect(texts(ALL_STUCK_RULE, {})).toEqual([]);
  });
});
