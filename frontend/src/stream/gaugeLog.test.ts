import { describe, expect, it } from "vitest";
import { GaugeLog } from "./gaugeLog";

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

  it("keeps what is younger than its age, and the change that holds before", () => {
    const log = new GaugeLog(10);
    for (let t = 0; t < 1000; t++) log.note(t, t % 7);
    const all = log.between(Number.NEGATIVE_INFINITY, 1000);
    expect(all.length).toBeLessThanOrEqual(22);
    expect(log.between(990, 1000).map((change) => change.t_s)).toEqual(
      Array.from({ length: 10 }, (_, n) => 990 + n),
    );
    log.note(5000, 1);
    expect(log.between(4995, 4999)).toEqual([{ t_s: 999, value: 999 % 7 }]);
  });
});
