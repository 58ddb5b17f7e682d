import { describe, expect, it } from "vitest";
import { axisStep, spanOf } from "./window";

describe("spanOf", () => {
  it("moves a live window in steps, ahead of the newest instant", () => {
    expect(spanOf({ kind: "last", seconds: 60 }, 100.2)).toEqual({ t0_s: 40.5, t1_s: 100.5 });
    expect(spanOf({ kind: "last", seconds: 60 }, 100.5)).toEqual({ t0_s: 40.5, t1_s: 100.5 });
    expect(axisStep(600)).toBe(2.5);
  });

  it("is no longer than what there is, and grows with it in steps", () => {
    const minute = { kind: "last", seconds: 60 } as const;
    const lengthAt = (now_s: number, from_s: number) => {
      const { t0_s, t1_s } = spanOf(minute, now_s, from_s);
      return t1_s - t0_s;
    };
    expect([1, 9, 12, 21, 44, 50, 400].map((now_s) => lengthAt(now_s, 0))).toEqual([
      10, 10, 15, 30, 45, 60, 60,
    ]);
    // A grown axis is at least half full.
    for (let now_s = 10; now_s < 400; now_s += 0.7) {
      expect(Math.min(60, now_s) / lengthAt(now_s, 0)).toBeGreaterThanOrEqual(0.6);
    }
    expect(lengthAt(100, 95)).toBe(10);
    expect(lengthAt(3, Number.NaN)).toBe(60);
  });

  it("leaves a fixed one where it is, and never empty", () => {
    expect(spanOf({ kind: "fixed", t0_s: 5, t1_s: 9 }, 100)).toEqual({ t0_s: 5, t1_s: 9 });
    expect(spanOf({ kind: "fixed", t0_s: 5, t1_s: 5 }, 100).t1_s).toBeGreaterThan(5);
  });
});
