import { describe, expect, it } from "vitest";
import { TARGET } from "../../testing/frames";
import { DIVISION, decision, OPTIONS, POLICY, STEERING, steerView } from "../../testing/steering";
import {
  claimText,
  dividedPrograms,
  divisionState,
  marginText,
  recordedDivisions,
  sinceText,
} from "./CoreDivisions";
import { logLines } from "./DecisionLog";
import { policyObstacle, steeringObstacle } from "./PolicyButtons";
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

it("says what is asked for", () => {
  expect(claimText(DIVISION)).toBe("share 2, floor 1");
  expect(claimText({ ...DIVISION, floor: 0, priority: -1 })).toBe("share 2, priority -1");
});

it("says what a core more or less is expected to do", () => {
  expect(marginText(DIVISION)).toBe(
    "One core more is expected to bring 12 %; one less, to cost 21 %.",
  );
  expect(marginText({ ...DIVISION, more_percent: -9.6, less_percent: 0.4 })).toBe(
    "One core more is expected to cost 10 %; one less, to cost less than 1 %.",
  );
  expect(marginText({ ...DIVISION, more_percent: null, less_percent: -3 })).toBe(
    "It can have no more cores; one less, to bring 3 %.",
  );
  expect(marginText({ ...DIVISION, less_percent: null })).toMatch(/it can have no fewer\.$/);
  expect(marginText({ ...DIVISION, state: "absent" })).toBe("");
});

it("says what goes on, and since when", () => {
  expect(divisionState({ ...DIVISION, state: "trying" })).toBe("trying another division");
  expect(sinceText(DIVISION)).toMatch(/^since \d\d:\d\d:\d\d$/);
});

it("lists the programs of a target, the largest first", () => {
  const one = { ...STEERING, division: DIVISION };
  const two = { ...STEERING, division: { ...DIVISION, cores: 5 } };
  const steered = (pid: number, steering: typeof STEERING) => ({
    pid,
    start_ticks: 1,
    name: "api",
    steering,
  });
  const programs = [steered(7, one), steered(8, two), steered(9, STEERING)];
  const found = dividedPrograms({ ...TARGET, programs });
  expect(found.map(({ pid, division }) => [pid, division.cores])).toEqual([
    [8, 5],
    [7, 3],
  ]);
  expect(dividedPrograms({ ...TARGET, steering: one }).map(({ pid }) => pid)).toEqual([
    TARGET.process.pid,
  ]);
  expect(dividedPrograms(TARGET)).toEqual([]);
});

it("lists those of a run in the same way", () => {
  const one = { t_s: 4, division: DIVISION, released_s: null };
  const program = { pid: 9, name: "api" };
  const other = { ...one, division: { ...DIVISION, cores: 5 }, program };
  expect(recordedDivisions(TARGET, [{ ...one, program: null }])).toEqual([
    { pid: TARGET.process.pid, name: TARGET.process.name, division: DIVISION },
  ]);
  const worker = { pid: 7, name: "worker" };
  const found = recordedDivisions(TARGET, [{ ...one, program: worker }, other]);
  expect(found.map(({ pid }) => pid)).toEqual([9, 7]);
});
