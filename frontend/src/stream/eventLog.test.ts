import { describe, expect, it } from "vitest";
import type { TargetEvent } from "../wire/generated/models";
import { EventLog } from "./eventLog";

const MISSED: TargetEvent = { type: "deadlines_missed", count: 1 };
const FAILED: TargetEvent = { type: "sample_failed", reason: "no such process" };
const born = (tid: number): TargetEvent => ({
  ...{ type: "thread_born", tid, start_ns: 0, name: "worker" },
});

describe("EventLog", () => {
  it("adds up counts of consecutive events instead of filling the list", () => {
    const log = new EventLog();
    for (let i = 0; i < 300; i++) log.add(i, MISSED);
    expect(log.between(0, 1000)).toEqual([
      { id: 0, t_s: 299, since_s: 0, times: 1, event: { ...MISSED, count: 300 } },
    ]);
    expect([log.total, log.edition]).toEqual([1, 300]);
  });

  it("counts equal events that count nothing themselves", () => {
    const log = new EventLog();
    log.add(1, FAILED);
    log.add(2, FAILED);
    log.add(3, { ...FAILED, reason: "permission denied" });
    expect(log.between(0, 9).map(({ times, t_s }) => [times, t_s])).toEqual([
      [2, 2],
      [1, 3],
    ]);
  });

  it("goes on with a series across threads that come and go, and not across anything else", () => {
    const log = new EventLog();
    log.add(1, MISSED);
    log.add(2, born(7));
    log.add(3, MISSED);
    log.add(4, FAILED);
    log.add(5, MISSED);
    expect(log.between(0, 9).map(({ t_s, event }) => [t_s, event.type])).toEqual([
      [2, "thread_born"],
      [3, "deadlines_missed"],
      [4, "sample_failed"],
      [5, "deadlines_missed"],
    ]);
  });

  it("has what happened in a stretch of time, a series that reaches into it included", () => {
    const log = new EventLog();
    log.add(1, born(7));
    log.add(2, FAILED);
    log.add(5, FAILED);
    log.add(9, MISSED);
    const times = (from_s: number, to_s: number) => log.between(from_s, to_s).map(({ id }) => id);
    expect(times(3, 4)).toEqual([1]);
    expect(times(6, 8)).toEqual([]);
    expect(times(0, 8)).toEqual([0, 1]);
  });

  it("keeps each birth for itself", () => {
    const log = new EventLog();
    log.add(1, born(7));
    log.add(1, born(7));
    expect(log.between(0, 1)).toHaveLength(2);
  });
});
