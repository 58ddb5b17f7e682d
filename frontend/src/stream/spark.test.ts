import { describe, expect, it } from "vitest";
import { History } from "./history";
import { pickPoints, sparkline } from "./spark";
import { usualOf, usualText } from "./usual";

it("needs few of many samples for the same slopes", () => {
  const history = new History(1, 2);
  const latest = Float64Array.from([Number.NaN, 0]);
  for (let i = 0; i <= 600; i++) {
    const t_s = i / 10;
    history.begin(t_s, latest, 64);
    // Ten per second, and none from 20 s to 40 s.
    const value = 10 * (t_s < 20 ? t_s : Math.max(20, t_s - 20));
    history.set(1, 0, value);
    latest[1] = value;
  }
  const all = history.between(0, 60);
  const picks = pickPoints(all, 0, 60, 40);
  expect(picks.length).toBeLessThanOrEqual(42);
  const n = picks.length;
  const values = new Float64Array(n);
  history.readAt(all, picks, 1, 0, 0, values);
  const every = new Float64Array(all.n);
  history.read(all, 1, 0, 0, every);
  expect([...values]).toEqual([...picks].map((pick) => every[pick]));
  const time_s = Float64Array.from(picks, (pick) => all.time_s[pick] ?? 0);
  const spark = sparkline({ n, time_s }, values, 0, 60, 40, 0.5);
  expect([spark[5], spark[20], spark[35]].map((value) => Math.round(value ?? -1))).toEqual([
    10, 0, 10,
  ]);
});

/** Noise around a level, with the last seconds at another one. */
function points(level: number, noise: number, last: number, seconds = 10): Float32Array {
  return Float32Array.from({ length: 300 }, (_, i) =>
    // Multiples of an irrational number are spread evenly over the unit interval.
    i < 300 - seconds ? level + noise * (((i * Math.SQRT2) % 1) - 0.5) : last,
  );
}

describe("how unusual a value is", () => {
  it("is as usual within the noise, and not beyond it", () => {
    expect(usualOf(points(1, 0.4, 1.1), "cores")?.level).toBe("usual");
    expect(usualOf(points(1, 0.4, 2), "cores")?.level).toBe("high");
    expect(usualOf(points(1, 0.4, 4), "cores")?.level).toBe("far_high");
    expect(usualOf(points(1, 0.4, 0.3), "cores")?.level).toBe("low");
    expect(usualOf(points(10, 0.4, 0), "cores")?.level).toBe("far_low");
  });

  it("is not moved by bursts in the past", () => {
    const bursts = points(1, 0.2, 1.05);
    for (let i = 0; i < 200; i += 5) bursts[i] = 40;
    const usual = usualOf(bursts, "cores");
    expect(usual?.level).toBe("usual");
    expect(usual?.median).toBeCloseTo(1, 1);
    const again = points(1, 0.2, 6);
    for (let i = 0; i < 200; i += 5) again[i] = 40;
    expect(usualOf(again, "cores")?.level).toBe("far_high");
  });

  it("calls small changes of what stands still usual", () => {
    expect(usualOf(points(0, 0, 0.01), "cores")?.level).toBe("usual");
    expect(usualOf(points(0, 0, 0.5), "cores")?.level).toBe("far_high");
    expect(usualOf(points(40, 0, 41), "count")?.level).toBe("usual");
    expect(usualOf(points(4, 0, 6), "count")?.level).toBe("high");
  });

  it("says nothing while little is known", () => {
    const fresh = points(1, 0.1, 5).fill(Number.NaN, 0, 275);
    expect(usualOf(fresh, "cores")).toBeNull();
    expect(usualOf(new Float32Array(0), "cores")).toBeNull();
    const gone = points(1, 0.1, Number.NaN);
    expect(usualOf(gone, "cores")).toBeNull();
  });

  it("takes a mean over all judged points, and has no trend then", () => {
    const window = points(1, 0.1, 1.02, 60);
    expect(usualOf(window, "cores", 60)).toMatchObject({ level: "usual", trend: "steady" });
    expect(usualOf(points(1, 0.1, 3, 60), "cores", 60)).toMatchObject({
      level: "far_high",
      trend: "steady",
      over_s: 240,
    });
  });

  it("rises and falls, and stands in words", () => {
    const rising = usualOf(points(1, 0.1, 3, 5), "cores");
    expect(rising?.trend).toBe("rising");
    expect(usualOf(points(1, 0.1, 0.2, 5), "cores")?.trend).toBe("falling");
    expect(usualOf(points(1, 0.1, 3, 40), "cores")?.trend).toBe("steady");
    expect(rising && usualText({ ...rising, median: 1 }, "cores")).toBe(
      "Far higher than usual and rising: the median of the 4 min 57 s before is 1.00 cores.",
    );
  });
});
