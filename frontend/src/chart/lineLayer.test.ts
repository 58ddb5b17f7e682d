import { describe, expect, it } from "vitest";
import type { ChartView } from "../stream/views";
import { chart } from "../testing/charts";
import { ScrollingRaster, sameSamples } from "./lineLayer";
import { pixelGrid } from "./plot";
import { Raster, type RasterStyle } from "./raster";

/** Reproducible random numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const WIDTH = 90;
const HEIGHT = 30;
const SPAN_S = 30;
const STYLES: readonly RasterStyle[] = [
  { colour: [200, 10, 10], opacity: 1, thickness: 1.5, dash: [] },
  { colour: [10, 200, 10], opacity: 0.35, thickness: 1.25, dash: [6, 3] },
  { colour: [10, 10, 200], opacity: 0.6, thickness: 3, dash: [5, 3] },
  { colour: [90, 90, 90], opacity: 1, thickness: 1, dash: [], fill: 0.4 },
];

/** Endless samples of three lines; a third of the seeds has columns with two values. */
class Lines {
  private readonly random: () => number;
  private readonly ranged: boolean;
  private readonly step: boolean;
  private readonly low: number[][] = STYLES.map(() => []);
  private readonly high: number[][] = STYLES.map(() => []);
  private readonly time: number[] = [];
  private now_s = 0;

  constructor(seed: number) {
    this.random = randomOf(seed);
    this.ranged = seed % 3 === 0;
    this.step = seed % 5 === 1;
  }

  /** Append samples; the last column may change too, as it does for shared columns. */
  grow(): void {
    const { random } = this;
    if (this.time.length > 0 && random() < 0.4) {
      for (const line of this.high) line[line.length - 1] = 12 * random();
    }
    for (let more = Math.floor(4 * random()); more >= 0; more--) {
      this.now_s += random() < 0.1 ? 2 : 0.05 + 0.4 * random();
      this.time.push(this.now_s);
      for (const [i, line] of this.low.entries()) {
        const value = random() < 0.05 ? Number.NaN : 10 * random();
        line.push(value);
        this.high[i]?.push(value + (this.ranged ? 3 * random() : 0));
      }
    }
  }

  /** The window up to now; rates at its left edge change each time. */
  view(): ChartView {
    const t1_s = Math.max(SPAN_S, Math.ceil(this.now_s / 0.5) * 0.5);
    const t0_s = t1_s - SPAN_S;
    const first = Math.max(
      0,
      this.time.findIndex((t_s) => t_s >= t0_s - 1),
    );
    const lines = this.low.map((low, i) => {
      const own = low.slice(first);
      own[0] = this.random();
      const top = this.ranged ? (this.high[i]?.slice(first) ?? []) : own;
      return { low: own, high: top };
    });
    const plain = lines.map(({ low }) => ({ low }));
    return chart(this.time.slice(first), this.ranged ? lines : plain, {
      ...{ t0_s, t1_s, step: this.step },
    });
  }
}

function rebuilt(view: ChartView, scale: Parameters<Raster["line"]>[2]): Raster {
  const raster = new Raster(WIDTH, HEIGHT);
  for (let index = STYLES.length - 1; index >= 0; index--) {
    const style = STYLES[index] as RasterStyle;
    if (style.fill === undefined) raster.line(view, index, scale, style);
    else raster.area(view, index, scale, style);
  }
  return raster;
}

function bytes({ pixels }: Raster): Buffer {
  return Buffer.from(pixels.buffer);
}

describe("ScrollingRaster", () => {
  it("is what drawing all of it makes, pixel for pixel, and draws a small part of it", () => {
    let drawn = 0;
    let updates = 0;
    for (let seed = 1; seed <= 30; seed++) {
      const lines = new Lines(seed);
      const scrolling = new ScrollingRaster(WIDTH, HEIGHT);
      for (let update = 0; update < 60; update++) {
        lines.grow();
        const view = lines.view();
        const y_top = update < 50 ? 14 : 9;
        const scale = { ...pixelGrid(view, WIDTH), y_top };
        drawn += scrolling.lines(view, scale, STYLES, "");
        updates++;
        const whole = rebuilt(view, scale);
        const place = `seed ${seed}, update ${update}`;
        expect(bytes(scrolling).equals(bytes(whole)), place).toBe(true);
      }
    }
    expect(drawn / updates).toBeLessThan(WIDTH / 2);
  });

  it("draws all of it when styleKey, scale or lines differ", () => {
    const scrolling = new ScrollingRaster(WIDTH, HEIGHT);
    const view = chart([1, 2, 3], [{ low: [1, 2, 3] }]);
    const scale = { ...pixelGrid(view, WIDTH), y_top: 4 };
    const one = STYLES.slice(0, 1);
    expect(scrolling.lines(view, scale, one, "a")).toBe(WIDTH);
    expect(scrolling.lines(view, scale, one, "a")).toBeLessThan(WIDTH);
    expect(scrolling.lines(view, scale, one, "b")).toBe(WIDTH);
    expect(scrolling.lines(view, { ...scale, y_top: 5 }, one, "b")).toBe(WIDTH);
    const other = chart([10, 20], [{ low: [1, 2] }]);
    expect(scrolling.lines(other, { ...scale, y_top: 5 }, one, "b")).toBe(WIDTH);
  });
});

describe("sameSamples", () => {
  it("finds the columns that are as they were", () => {
    const before = chart([1, 2, 3, 4], [{ low: [1, Number.NaN, 3, 4] }]);
    expect(sameSamples(before, chart([2, 3, 4, 5], [{ low: [Number.NaN, 3, 4, 5] }]))).toEqual({
      from: 0,
      to: 3,
    });
    expect(sameSamples(before, chart([2, 3, 4, 5], [{ low: [7, 3, 4, 5] }]))).toEqual({
      from: 1,
      to: 3,
    });
    expect(sameSamples(before, chart([2.5, 3, 4], [{ low: [2, 3, 4] }]))).toBeNull();
    expect(sameSamples(before, chart([1, 2], [{ low: [9, 9] }]))).toBeNull();
  });
});
