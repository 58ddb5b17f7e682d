import { describe, expect, it } from "vitest";
import type { TimeWindow } from "../stream/viewRequest";
import { between, shifted, type WindowMove, windowAfterMove, zoomed } from "./zoom";

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

const SPAN = { t0_s: 40, t1_s: 100 };
const LAST: TimeWindow = { kind: "last", seconds: 60 };
const FIXED: TimeWindow = { kind: "fixed", ...SPAN };
const move = (key: WindowMove, window: TimeWindow, extent: typeof SPAN | null = null) =>
  windowAfterMove(key, window, SPAN, extent?.t1_s ?? 110, extent);

describe("the window by keys", () => {
  it("stands still once it moved into the past", () => {
    expect(move("earlier", LAST)).toEqual({ kind: "fixed", t0_s: 10, t1_s: 70 });
    expect(move("later", LAST)).toBe(LAST);
  });

  it("moves on to the newest instant, and is live beyond it", () => {
    expect(move("later", FIXED)).toEqual({ kind: "fixed", t0_s: 50, t1_s: 110 });
    expect(windowAfterMove("later", FIXED, SPAN, 100, null)).toEqual(LAST);
    const run = { t0_s: 0, t1_s: 100 };
    expect(move("later", FIXED, run)).toEqual(FIXED);
  });

  it("gets shorter around its middle, and longer up to all of a run", () => {
    expect(move("shorter", FIXED)).toEqual({ kind: "fixed", t0_s: 50, t1_s: 90 });
    expect(move("shorter", LAST)).toEqual({ kind: "last", seconds: 40 });
    const { t0_s, t1_s } = move("longer", FIXED, { t0_s: 30, t1_s: 110 }) as typeof SPAN;
    expect(t1_s - t0_s).toBe(80);
  });

  it("goes back to what is live, or to the whole run", () => {
    expect(move("back", FIXED)).toEqual(LAST);
    expect(move("back", FIXED, { t0_s: 0, t1_s: 500 })).toEqual({
      kind: "fixed",
      t0_s: 0,
      t1_s: 500,
    });
  });
});
