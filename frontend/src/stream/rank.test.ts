import { describe, expect, it } from "vitest";
import { filterFrom, topThreads } from "./rank";
import { Threads } from "./threads";

describe("topThreads", () => {
  const threads = new Threads();
  const all = [1, 2, 3, 4].map((tid) => threads.add(tid, tid, "t", { before_s: 0, now_s: 0 }, 0));
  const scores = [10, 11, 11, 0];
  const top = (k: number, incumbents: string[] = []) =>
    topThreads(all, (thread) => scores[thread.tid - 1] ?? 0, k, new Set(incumbents)).map(
      (thread) => thread.tid,
    );

  it("takes the highest, ties by tid, and none that did nothing", () => {
    expect(top(2)).toEqual([2, 3]);
    expect(top(9)).toEqual([2, 3, 1]);
  });

  it("favours those that have a line a little", () => {
    expect(top(1, ["1@1"])).toEqual([1]);
    scores[1] = 12;
    expect(top(1, ["1@1"])).toEqual([2]);
  });
});

describe("filterFrom", () => {
  it("says what is wrong with an expression and lets everything through", () => {
    const filter = filterFrom("work[");
    expect(filter.problem).not.toBe("");
    expect(filter.fits({ tid: 1, name: "x", role: "x" })).toBe(true);
  });
});
