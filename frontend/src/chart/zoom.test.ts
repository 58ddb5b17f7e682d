import { describe, expect, it } from "vitest";
import { between, shifted, zoomed } from "./zoom";

describe("time windows", () => {
  const span = { t0_s: 10, t1_s: 20 };

  it("zoom around a moment, and a live one stays live", () => {
    expect(zoomed({ kind: "fixed", ...span }, span, 15, 0.5)).toEqual({
      kind: "fixed",
      t0_s: 12.5,
      t1_s: 17.5,
    });
    expect(zoomed({ kind: "last", seconds: 10 }, span, 15, 2)).toEqual({
      kind: "last",
      seconds: 20,
    });
    expect(zoomed({ kind: "last", seconds: 600 }, { t0_s: 0, t1_s: 600 }, 1, 2)).toEqual({
      kind: "last",
      seconds: 600,
    });
  });

  it("come from a drag, either way, unless it was none", () => {
    expect(between(5, 3)).toEqual({ kind: "fixed", t0_s: 3, t1_s: 5 });
    expect(between(5, 5.1)).toBeNull();
    expect(shifted(span, -2)).toEqual({ kind: "fixed", t0_s: 8, t1_s: 18 });
  });
});
