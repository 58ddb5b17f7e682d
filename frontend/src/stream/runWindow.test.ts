import { describe, expect, it } from "vitest";
import { HOUR } from "../testing/runs";
import { covers, instantsFor, sampleStep, serves, wantedFor, wholeOf, within } from "./runWindow";

describe("instantsFor", () => {
  it("is bounded by what a chart can show, and by rows", () => {
    expect(instantsFor(HOUR)).toBe(1200);
    expect(instantsFor({ ...HOUR, rows: 36_001 * 500 })).toBe(300);
    expect(instantsFor({ ...HOUR, rows: 36_001 * 5000 })).toBe(150);
    expect(instantsFor({ ...HOUR, instants: 0, rows: 0 })).toBe(1200);
  });
});

describe("wholeOf", () => {
  it("is coarse for a long run", () => {
    expect(wholeOf(HOUR)).toEqual({ t0_s: 100, t1_s: 3700, instants: 600, raw: false, step_s: 6 });
  });

  it("is every sample of a short one", () => {
    const minute = { ...HOUR, to_s: 150, instants: 501, rows: 1503 };
    expect(wholeOf(minute)).toMatchObject({ raw: true, step_s: 0.1 });
    expect(wholeOf(minute).instants).toBeGreaterThanOrEqual(501);
  });
});

describe("wantedFor", () => {
  it("has a time before it to compare with, and ends where the run does", () => {
    expect(wantedFor(HOUR, { t0_s: 1000, t1_s: 1600 })).toEqual({
      t0_s: 400,
      t1_s: 1900,
      instants: 1200,
      raw: false,
      step_s: 1.25,
    });
    expect(wantedFor(HOUR, { t0_s: 100, t1_s: 700 })).toMatchObject({ t0_s: 100, t1_s: 1000 });
    expect(wantedFor(HOUR, { t0_s: 3100, t1_s: 3700 })).toMatchObject({ t0_s: 2500, t1_s: 3700 });
  });

  it("comes down to samples", () => {
    expect(wantedFor(HOUR, { t0_s: 1000, t1_s: 1040 })).toMatchObject({
      raw: true,
      step_s: sampleStep(HOUR),
    });
  });
});

describe("serves", () => {
  const window = { t0_s: 1000, t1_s: 1600 };

  it("wants all of the window, about as fine as it could be", () => {
    expect(serves(wantedFor(HOUR, window), HOUR, window)).toBe(true);
    expect(serves(wholeOf(HOUR), HOUR, window)).toBe(false);
    expect(serves(wholeOf(HOUR), HOUR, { t0_s: 100, t1_s: 3700 })).toBe(true);
    // A slightly closer window is no reason to read again, a much closer one is.
    expect(serves(wantedFor(HOUR, window), HOUR, { t0_s: 1100, t1_s: 1500 })).toBe(true);
    expect(serves(wantedFor(HOUR, window), HOUR, { t0_s: 1200, t1_s: 1400 })).toBe(false);
    expect(serves(wantedFor(HOUR, window), HOUR, { t0_s: 1500, t1_s: 2000 })).toBe(false);
  });

  it("wants nothing finer than samples", () => {
    const samples = wantedFor(HOUR, { t0_s: 1000, t1_s: 1040 });
    expect(serves(samples, HOUR, { t0_s: 1010, t1_s: 1011 })).toBe(true);
  });
});

it("covers what the run has of a window", () => {
  expect(covers(wholeOf(HOUR), HOUR, { t0_s: 0, t1_s: 9999 })).toBe(true);
  expect(covers({ t0_s: 200, t1_s: 300 }, HOUR, { t0_s: 250, t1_s: 301 })).toBe(false);
});

it("keeps windows within the run", () => {
  const extent = { t0_s: 100, t1_s: 200 };
  expect(within({ t0_s: 50, t1_s: 80 }, extent)).toEqual({ t0_s: 100, t1_s: 130 });
  expect(within({ t0_s: 190, t1_s: 220 }, extent)).toEqual({ t0_s: 170, t1_s: 200 });
  expect(within({ t0_s: 0, t1_s: 900 }, extent)).toEqual(extent);
  expect(within({ t0_s: 110, t1_s: 120 }, extent)).toEqual({ t0_s: 110, t1_s: 120 });
});
