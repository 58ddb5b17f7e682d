import { describe, expect, it } from "vitest";
import { decision, OPTIONS, POLICY, steerView } from "../../testing/steering";
import { logLines } from "./logLines";
import { policyObstacle, steeringObstacle } from "./obstacles";
import { behindBestText, sizeBars } from "./trialScale";

const tried = (size: number, rate: number) => ({
  size,
  rate,
  low: null,
  high: null,
  wait_s: null,
  intervals: 1,
});

describe("sizeBars", () => {
  it("measures from zero, and names the best, the smaller one of two", () => {
    const bars = sizeBars([tried(4, 500), tried(8, 1000), tried(9, 1000)], 9);
    expect(bars.map(({ share }) => share)).toEqual([0.5, 1, 1]);
    expect(bars.map(behindBestText)).toEqual(["−50.0 %", "best", "same"]);
    expect(bars.map(({ current }) => current)).toEqual([false, false, true]);
  });

  it("does not divide by nothing", () => {
    expect(sizeBars([tried(4, 0)], null)).toMatchObject([{ share: 0, behind: 0, best: true }]);
    expect(sizeBars([], 4)).toEqual([]);
  });
});

describe("logLines", () => {
  it("has decisions and restarts, newest first", () => {
    expect(logLines(steerView(), true).map(({ what }) => what)).toEqual([
      "search restarted",
      "stays at 9",
      "8 → 9",
    ]);
    expect(logLines(steerView(), false).map(({ what }) => what)).toEqual([
      "search restarted",
      "8 → 9",
    ]);
  });

  it("says which intervals do not count, and ends somewhere", () => {
    const decisions = Array.from({ length: 200 }, (_, i) => decision(i, { counted: false }));
    const lines = logLines(steerView({ decisions, restarts: [] }), true);
    expect(lines).toHaveLength(150);
    expect(lines[0]).toMatchObject({ t_s: 199, what: "stays at 8 (not counted)" });
  });
});

describe("obstacles", () => {
  it("need a knob first, then a signal", () => {
    const refused = { refusal: "no" };
    const knobs = OPTIONS.knobs.map((knob) => ({ ...knob, ...refused }));
    const signals = OPTIONS.signals.map((signal) => ({ ...signal, ...refused }));
    expect(steeringObstacle(OPTIONS)).toBeNull();
    expect(steeringObstacle({ ...OPTIONS, knobs, signals })).toBe("knob");
    expect(steeringObstacle({ ...OPTIONS, signals })).toBe("signal");
  });

  it("are there for a policy that steers on waiting", () => {
    expect(policyObstacle(POLICY, OPTIONS)).toBe("");
    expect(policyObstacle({ ...POLICY, wait: true }, OPTIONS)).toContain(
      "The agent does not tell.",
    );
    expect(policyObstacle({ ...POLICY, wait: true }, null)).toBe("");
  });
});
