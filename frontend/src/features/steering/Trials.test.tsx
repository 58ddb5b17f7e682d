/** Pictures of size curves and proofs, and the drawer's requests. */

import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { decision } from "../../testing/steering";
import type { ProofState, SweepState } from "../../wire/generated/models";
import { ProofPicture } from "./ProofPicture";
import { SizeCurve } from "./SizeCurve";
import { curveTop, gainsOf, proofBlocks, scaleOf, ticksBetween } from "./trialScale";

const SWEEP: SweepState = {
  verdict: "decided",
  start: 4,
  rounds: 4,
  discarded: 0,
  points: [
    { size: 1, ops_per_s: 500, low: null, high: null, rounds: 2 },
    { size: 2, ops_per_s: 1000, low: 990, high: 1010, rounds: 4 },
    { size: 4, ops_per_s: 1001, low: 991, high: 9000, rounds: 4 },
  ],
  best: 4,
  knee: 2,
  knee_from: 2,
  knee_to: 2,
  gain: null,
  refused: [],
  line: "GOMAXPROCS=2",
  lost_s: 1,
  elapsed_s: 60,
  text: "2 is the knee.",
};
const PROOF: ProofState = {
  verdict: "open",
  pairs: 1,
  discarded: 0,
  gain_percent: 20,
  low_percent: null,
  high_percent: null,
  lost_s: 0,
  elapsed_s: 16,
  steers: true,
  text: "+20.0% so far.",
  p99_missing: "The program has no agent.",
};
const gain = (percent: number, low: number | null, high: number | null) => ({
  percent,
  low_percent: low,
  high_percent: high,
});
const DECISIONS = [
  decision(2, { number: 7, with_policy: true, rate: 1 }),
  decision(4, { number: 1, with_policy: false, rate: 900 }),
  decision(6, { number: 2, with_policy: false, rate: 1000 }),
  decision(8, { number: 3, with_policy: false, rate: 1100, counted: false }),
  decision(10, { number: 4, with_policy: true, rate: 1000, gain: gain(20, null, null) }),
  decision(12, { number: 5, with_policy: true, rate: 1200, gain: gain(20, null, null) }),
  decision(14, { number: 6, with_policy: false, rate: 1000, gain: gain(18, 5, 30) }),
];

describe("the scale", () => {
  it("has few round ticks, and keeps values within", () => {
    expect(ticksBetween(0, 1234)).toEqual([0, 500, 1000]);
    expect(ticksBetween(3, 3)).toEqual([3]);
    const { y } = scaleOf([0, 1], [0, 10], [0, 100]);
    expect([y(-5), y(0), y(5), y(10), y(99)]).toEqual([100, 100, 50, 0, 0]);
  });

  it("does not let a wide interval press the curve flat", () => {
    expect(curveTop(SWEEP)).toBe(2002);
    expect(curveTop({ ...SWEEP, points: [] })).toBe(1);
  });
});

describe("a proof", () => {
  it("has the blocks of the last one, with means that leave the first interval out", () => {
    const blocks = proofBlocks(DECISIONS);
    expect(blocks.map(({ withPolicy, mean }) => [withPolicy, mean])).toEqual([
      [false, 1000],
      [true, 1200],
      [false, Number.NaN],
    ]);
    expect(proofBlocks([decision(2)])).toEqual([]);
  });

  it("shows how the interval became known", () => {
    expect(gainsOf(DECISIONS)).toEqual([
      { t_s: 10, percent: 20, low: null, high: null },
      { t_s: 14, percent: 18, low: 5, high: 30 },
    ]);
  });

  it("shows gains above 100 %, however wide their intervals are", () => {
    const most = (at: ReturnType<typeof gain>) => {
      const shown = [decision(10, { number: 4, with_policy: true, rate: 1000, gain: at })];
      const { container } = render(<ProofPicture proof={PROOF} decisions={shown} />);
      const ticks = [...container.querySelectorAll("text")].map(({ textContent }) => textContent);
      return ticks.filter((text) => text?.startsWith("+"));
    };
    expect(most(gain(140, -300, 900))).toEqual(["+154"]);
    expect(most(gain(20, -300, 900))).toEqual(["+100"]);
  });

  it("is drawn", () => {
    const { container } = render(<ProofPicture proof={PROOF} decisions={DECISIONS} />);
    screen.getByRole("img", { name: "Blocks of the proof. +20.0% so far." });
    const sides = [...container.querySelectorAll("[data-block]")];
    expect(sides.map((each) => each.getAttribute("data-block"))).toEqual([
      "without",
      "with",
      "without",
    ]);
    expect(container.querySelectorAll("[data-left-out=true]")).toHaveLength(4);
    screen.getByText("+18.0 % [+5.0, +30.0]");
    screen.getByText("No response times: The program has no agent.");
  });

  it("says how throughput and p99 changed, with their intervals", () => {
    const p99 = { percent: -31, low_percent: -45, high_percent: -12 };
    const known = { ...PROOF, low_percent: 12, high_percent: 28, p99, p99_missing: null };
    const { container } = render(<ProofPicture proof={known} decisions={DECISIONS} />);
    const figure = (name: string) =>
      container.querySelector(`[data-figure=${name}] dd`)?.textContent;
    expect(figure("throughput")).toBe("+20.0 % [+12.0, +28.0]");
    expect(figure("p99")).toBe("−31.0 % [−45.0, −12.0]");
    expect(screen.queryByText(/No response times/)).toBeNull();
  });
});

describe("a size curve", () => {
  it("has a point for each size, the knee, and the line to copy", () => {
    const { container } = render(<SizeCurve sweep={SWEEP} />);
    expect(container.querySelectorAll("[data-size-point]")).toHaveLength(3);
    expect(container.querySelector("g[data-knee=true]")?.getAttribute("data-size-point")).toBe("2");
    screen.getByRole("button", { name: "Copy the line" });
    screen.getByText("GOMAXPROCS=2");
  });

  it("has no line before it is decided", () => {
    render(<SizeCurve sweep={{ ...SWEEP, verdict: "open", points: [] }} />);
    expect(screen.queryByRole("button")).toBeNull();
    expect(screen.queryByRole("img")).toBeNull();
  });
});
