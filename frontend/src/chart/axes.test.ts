import { describe, expect, it } from "vitest";
import { clockText, follows, nextRange, niceTop, timeTicks, valueTicks } from "./axes";
import type { Plot } from "./plot";

const NOON_MS = new Date(2026, 0, 1, 12, 0, 0).getTime();
const PLOT: Plot = { left: 62, top: 10, width: 600, height: 160, t0_s: 1, t1_s: 61, y_top: 0.6 };

const texts = (plot: Partial<Plot>) =>
  timeTicks({ ...PLOT, ...plot }, NOON_MS).map(({ text }) => text);

describe("timeTicks", () => {
  it("are at round times of the clock, each where its time is", () => {
    const ticks = timeTicks(PLOT, NOON_MS);
    expect(ticks.map(({ text }) => text)).toEqual([
      ...["12:00:10", "12:00:20", "12:00:30", "12:00:40", "12:00:50", "12:01:00"],
    ]);
    expect(ticks[0]?.at).toBeCloseTo(62 + 90, 9);
    expect(ticks[5]?.at).toBeCloseTo(62 + 590, 9);
  });

  it("are fewer where there is less room, and never closer than their labels", () => {
    expect(texts({ width: 150 })).toEqual(["12:00:30", "12:01:00"]);
    for (const t1_s of [1.05, 1.3, 3, 17, 61, 400, 3601, 50_000, 400_000]) {
      for (const width of [80, 333, 1200]) {
        const ticks = timeTicks({ ...PLOT, width, t1_s }, NOON_MS);
        const room = ticks.slice(1).map(({ at }, i) => at - (ticks[i]?.at ?? 0));
        expect(Math.min(...room, 1000)).toBeGreaterThanOrEqual(60);
      }
    }
  });

  it("show milliseconds where they are less than a second apart", () => {
    expect(texts({ t1_s: 2 })).toEqual([
      ...["12:00:01.000", "12:00:01.200", "12:00:01.400", "12:00:01.600", "12:00:01.800"],
      "12:00:02.000",
    ]);
  });

  it("are at whole hours of the clock on the wall", () => {
    const hours = texts({ t0_s: 0, t1_s: 12 * 3600 });
    expect(hours[0]).toBe("12:00:00");
    expect(hours.every((text) => text.endsWith(":00:00"))).toBe(true);
  });
});

describe("valueTicks", () => {
  it("cut the axis into four from the foot to the top", () => {
    expect(valueTicks(PLOT, "cores")).toEqual([
      { at: 170, text: "0" },
      { at: 130, text: "0.15" },
      { at: 90, text: "0.30" },
      { at: 50, text: "0.45" },
      { at: 10, text: "0.60" },
    ]);
  });

  it("differ from one another and fit beside the plot, whatever the data", () => {
    const units = ["W", "cores", "s", "share", "bytes", "bytes/s", "1/s", "count"] as const;
    for (const unit of units) {
      for (let max = 1e-6; max < 1e5; max *= 1.09) {
        const ticks = valueTicks({ ...PLOT, y_top: niceTop(max, unit) }, unit);
        const texts = ticks.map(({ text }) => text);
        expect(new Set(texts).size, texts.join()).toBe(ticks.length);
        expect(Math.max(...texts.map(({ length }) => length)), texts.join()).toBeLessThan(11);
      }
    }
  });
});

it("clock times have milliseconds if wanted", () => {
  expect([clockText(NOON_MS + 1250), clockText(NOON_MS + 1250, true)]).toEqual([
    "12:00:01",
    "12:00:01.250",
  ]);
});

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
