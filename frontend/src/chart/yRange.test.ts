import { describe, expect, it } from "vitest";
import { follows, nextRange, niceTop } from "./yRange";

describe("niceTop", () => {
  it("is round: decimal for numbers, binary for bytes", () => {
    expect([0.43, 0.3, 1, 1.01, 97].map((max) => niceTop(max, "cores"))).toEqual([
      0.6, 0.3, 1, 1.2, 100,
    ]);
    expect(niceTop(130 * 1024, "bytes")).toBe(256 * 1024);
    expect(niceTop(600 * 1024 ** 2, "bytes")).toBe(1024 ** 3);
    expect(niceTop(9, "count")).toBe(10);
    expect(niceTop(0, "cores")).toBe(0.01);
    expect(niceTop(0, "bytes")).toBe(4096);
  });
});

describe("nextRange", () => {
  it("grows at once", () => {
    const first = nextRange(null, 0.5, "cores", 0);
    expect(first.top).toBe(0.6);
    expect(nextRange(first, 0.7, "cores", 1).top).toBe(0.8);
  });

  it("shrinks after three seconds far below, and not for a dip", () => {
    let range = nextRange(null, 1, "cores", 0);
    range = nextRange(range, 0.1, "cores", 100);
    expect(range).toEqual({ top: 1, loose_since_ms: 100 });
    range = nextRange(range, 0.9, "cores", 2000);
    expect(range).toEqual({ top: 1, loose_since_ms: null });
    range = nextRange(range, 0.1, "cores", 3000);
    range = nextRange(range, 0.1, "cores", 5999);
    expect(range.top).toBe(1);
    expect(nextRange(range, 0.1, "cores", 6000).top).toBe(0.1);
  });

  it("is the same object while nothing changes", () => {
    const range = nextRange(null, 1, "cores", 0);
    expect(nextRange(range, 0.8, "cores", 9000)).toBe(range);
  });
});

describe("follows", () => {
  it("is of views that move on, and no others", () => {
    const minute = { t0_s: 10, t1_s: 70 };
    expect(follows(minute, { t0_s: 10.1, t1_s: 70.1 })).toBe(true);
    expect(follows(minute, minute)).toBe(false);
    expect(follows(minute, { t0_s: 20, t1_s: 30 })).toBe(false);
    expect(follows(minute, { t0_s: 5, t1_s: 65 })).toBe(false);
    expect(follows(null, minute)).toBe(false);
  });
});
