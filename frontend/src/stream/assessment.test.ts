import { describe, expect, it } from "vitest";
import { assess, assessmentText } from "./assessment";

/** Noise around a level, with the last seconds at another one. */
function points(level: number, noise: number, last: number, seconds = 10): Float32Array {
  return Float32Array.from({ length: 300 }, (_, i) =>
    // Multiples of an irrational number are spread evenly over the unit interval.
    i < 300 - seconds ? level + noise * (((i * Math.SQRT2) % 1) - 0.5) : last,
  );
}

describe("how unusual a value is", () => {
  it("is normal within the noise, and not beyond it", () => {
    expect(assess(points(1, 0.4, 1.1), "cores")?.level).toBe("normal");
    expect(assess(points(1, 0.4, 2), "cores")?.level).toBe("high");
    expect(assess(points(1, 0.4, 4), "cores")?.level).toBe("far_high");
    expect(assess(points(1, 0.4, 0.3), "cores")?.level).toBe("low");
    expect(assess(points(10, 0.4, 0), "cores")?.level).toBe("far_low");
  });

  it("is not moved by bursts in the past", () => {
    const bursts = points(1, 0.2, 1.05);
    for (let i = 0; i < 200; i += 5) bursts[i] = 40;
    const assessment = assess(bursts, "cores");
    expect(assessment?.level).toBe("normal");
    expect(assessment?.median).toBeCloseTo(1, 1);
    const again = points(1, 0.2, 6);
    for (let i = 0; i < 200; i += 5) again[i] = 40;
    expect(assess(again, "cores")?.level).toBe("far_high");
  });

  it("calls small changes of a constant value normal", () => {
    expect(assess(points(0, 0, 0.01), "cores")?.level).toBe("normal");
    expect(assess(points(0, 0, 0.5), "cores")?.level).toBe("far_high");
    expect(assess(points(40, 0, 41), "count")?.level).toBe("normal");
    expect(assess(points(4, 0, 6), "count")?.level).toBe("high");
  });

  it("says nothing while little is known", () => {
    const fresh = points(1, 0.1, 5).fill(Number.NaN, 0, 275);
    expect(assess(fresh, "cores")).toBeNull();
    expect(assess(new Float32Array(0), "cores")).toBeNull();
    const gone = points(1, 0.1, Number.NaN);
    expect(assess(gone, "cores")).toBeNull();
  });

  it("takes a mean over all judged points, and has no trend then", () => {
    const window = points(1, 0.1, 1.02, 60);
    expect(assess(window, "cores", 60)).toMatchObject({ level: "normal", trend: "steady" });
    expect(assess(points(1, 0.1, 3, 60), "cores", 60)).toMatchObject({
      level: "far_high",
      trend: "steady",
      over_s: 240,
    });
  });

  it("rises and falls, and stands in words", () => {
    const rising = assess(points(1, 0.1, 3, 5), "cores");
    expect(rising?.trend).toBe("rising");
    expect(assess(points(1, 0.1, 0.2, 5), "cores")?.trend).toBe("falling");
    expect(assess(points(1, 0.1, 3, 40), "cores")?.trend).toBe("steady");
    expect(rising && assessmentText({ ...rising, median: 1 }, "cores")).toBe(
      "Far higher than usual and rising: the median of the 4 min 57 s before is 1.00 cores.",
    );
  });
});
