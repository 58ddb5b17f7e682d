import { describe, expect, it } from "vitest";
import { filterFrom } from "./filter";
import { GaugeLog } from "./gauge_log";
import { topThreads } from "./rank";
import { createStore } from "./store";
import { Threads } from "./threads";
import { axisStep, spanOf } from "./window";

describe("spanOf", () => {
  it("moves a live window in steps, ahead of the newest instant", () => {
    expect(spanOf({ kind: "last", seconds: 60 }, 100.2)).toEqual({ t0_s: 40.5, t1_s: 100.5 });
    expect(spanOf({ kind: "last", seconds: 60 }, 100.5)).toEqual({ t0_s: 40.5, t1_s: 100.5 });
    expect(axisStep(600)).toBe(2.5);
  });

  it("leaves a fixed one where it is, and never empty", () => {
    expect(spanOf({ kind: "fixed", t0_s: 5, t1_s: 9 }, 100)).toEqual({ t0_s: 5, t1_s: 9 });
    expect(spanOf({ kind: "fixed", t0_s: 5, t1_s: 5 }, 100).t1_s).toBeGreaterThan(5);
  });
});

describe("topThreads", () => {
  const threads = new Threads();
  const all = [1, 2, 3, 4].map((tid) => threads.add(tid, tid, "t", 0, 0));
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

describe("GaugeLog", () => {
  it("holds until it changes", () => {
    const log = new GaugeLog();
    log.note(1, 8);
    log.note(2, 8);
    log.note(3, 4);
    expect(log.between(2, 9)).toEqual([
      { t_s: 1, value: 8 },
      { t_s: 3, value: 4 },
    ]);
    expect([...log.sampled(0, 4, 4)]).toEqual([8, 8, 4, 4]);
    expect([...log.sampled(-2, 0, 2)]).toEqual([Number.NaN, Number.NaN]);
  });
});

describe("createStore", () => {
  it("tells of changes, and only of changes", () => {
    const store = createStore(1);
    let told = 0;
    const end = store.subscribe(() => told++);
    store.set(1);
    store.set(2);
    end();
    store.set(3);
    expect([told, store.get()]).toEqual([1, 3]);
  });
});
