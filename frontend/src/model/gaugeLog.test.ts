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
});
