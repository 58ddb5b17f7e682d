import { describe, expect, it } from "vitest";
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
