import { describe, expect, it } from "vitest";
import { markerSvg } from "./Marker";
import { sparkBand, sparkPath, sparkTop } from "./sparkPath";

describe("small drawings", () => {
  it("draws sparklines from 0 up, with gaps", () => {
    expect(sparkPath(Float32Array.of(0, 2, Number.NaN, 4), 30, 10)).toBe(
      "M0.0,9.0L10.0,5.0M30.0,1.0",
    );
    expect(sparkPath(new Float32Array(0), 30, 10)).toBe("");
  });

  it("draws the expected band on the same scale", () => {
    expect(sparkTop(Float32Array.of(0, 2, Number.NaN, 4))).toBe(4);
    expect(sparkBand([1, 3], 4, 10)).toEqual({ y: 3, height: 4 });
    expect(sparkBand([2, 9], 4, 10)).toEqual({ y: 1, height: 4 });
    expect(sparkBand([2, 2], 4, 10)).toEqual({ y: 5, height: 1 });
    expect(sparkBand([5, 9], 4, 10)).toBeNull();
  });

  it("draws markers", () => {
    expect(markerSvg("none", 5, 5)).toBe("");
    expect(markerSvg("triangle", 0, 0)).toMatch(/^M0,-4.*Z$/);
  });
});
