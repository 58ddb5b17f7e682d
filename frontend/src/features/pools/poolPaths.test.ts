import { expect, it } from "vitest";
import { linePath, stepPath } from "./poolPaths";

const PLOT = { t0_s: 10, t1_s: 20, width: 100, height: 50, most: 10 };
const values = Float64Array.of(5, Number.NaN, 10, 0);
const time_s = Float64Array.of(8, 12, 15, 20);

it("draws a line, broken where nothing is known, from the left edge on", () => {
  expect(linePath({ ...PLOT, time_s }, values)).toBe("M0 25M50 0L100 50");
});

it("holds a value until the next one", () => {
  expect(stepPath({ ...PLOT, time_s: Float64Array.of(10, 15) }, Float64Array.of(5, 10))).toBe(
    "M0 25H50V0H100",
  );
  expect(stepPath({ ...PLOT, time_s: Float64Array.of(10) }, Float64Array.of(Number.NaN))).toBe("");
});
