import { describe, expect, it } from "vitest";
import {
  differenceOf,
  intervalWithin,
  SpreadMean,
  spreadOf,
  spreadWithin,
  wilson,
} from "./intervals";

const Z = 1.96 ** 2;

describe("spreads", () => {
  it("are found again from an interval's width", () => {
    for (const share of [0, 0.001, 0.2, 0.5, 0.9, 1]) {
      for (const samples of [1, 5, 40, 1000]) {
        const centre = (share + Z / samples / 2) / (1 + Z / samples);
        const root = Math.sqrt((share * (1 - share) * Z) / samples + (Z / samples) ** 2 / 4);
        const half = root / (1 + Z / samples);
        const width = Math.min(1, centre + half) - Math.max(0, centre - half);
        expect(spreadOf(share, width), `${share} of ${samples}`).toBeCloseTo(Z / samples, 8);
      }
    }
    expect(spreadOf(0.3, 0)).toBe(0);
  });

  it("give an interval that holds the share and stays within the whole", () => {
    expect(wilson(0.5, 0)).toEqual([0.5, 0.5]);
    const [low, high] = wilson(0, Z / 10);
    expect(low).toBe(0);
    expect(high).toBeCloseTo(0.2775, 3);
    expect(wilson(1, Z / 10)[1]).toBe(1);
    expect(intervalWithin(5, 0.1, 0)).toEqual({ value: 5, low: 5, high: 5 });
  });

  it("have a mean by weight, or the greatest of what has no weight", () => {
    const mean = new SpreadMean();
    expect(mean.of()).toBe(0);
    mean.add(0.4, 0);
    expect(mean.of()).toBe(0.4);
    mean.add(0.1, 3);
    mean.add(0.5, 1);
    expect(mean.of()).toBeCloseTo(0.2);
  });

  it("lose what few samples widened once there are many", () => {
    // The quantile of t with 1 and with 10 degrees of freedom by that of the normal distribution.
    const mean = new SpreadMean();
    for (let part = 0; part < 10; part++) mean.add(0.5, 1, 1);
    const ratio = mean.of(10) / 0.5;
    expect(ratio).toBeLessThan(0.15);
    expect(mean.of(1)).toBeCloseTo(0.5);
    expect(mean.of(10) / mean.of()).toBeCloseTo((2.228 / 1.96) ** 2, 2);
  });

  it("let ten functions of one sample each have the interval of ten samples", () => {
    // Each of 100 samples is a row; ten rows are merged.
    const [low, high] = wilson(0.01, Z / 100);
    const mean = new SpreadMean();
    for (let row = 0; row < 10; row++) {
      mean.add(spreadWithin({ value: 1, low: 100 * low, high: 100 * high }, 100), 1);
    }
    const merged = intervalWithin(10, mean.of(), 100);
    const [wanted, most] = wilson(0.1, Z / 100);
    expect(merged.low).toBeCloseTo(100 * wanted, 5);
    expect(merged.high).toBeCloseTo(100 * most, 5);
  });
});

it("makes the interval of a difference from both sides", () => {
  const found = differenceOf({ value: 1, low: 0.7, high: 1.4 }, { value: 3, low: 2.7, high: 3.4 });
  expect(found.value).toBe(2);
  expect(found.low).toBeCloseTo(1.5);
  expect(found.high).toBeCloseTo(2.5);
});
