import { describe, expect, it } from "vitest";
import { isSlowed, slowedWords } from "./slowed";

const SLOWED = { rate_hz: 10, in_force_hz: 4, overhead_percent: 1.6, budget_percent: 2 };

describe("slowedWords", () => {
  it("says nothing while the rate is the one asked for, or not known", () => {
    expect(slowedWords({ ...SLOWED, in_force_hz: 10 })).toBeNull();
    expect(slowedWords({ ...SLOWED, in_force_hz: Number.NaN })).toBeNull();
    expect(isSlowed(SLOWED)).toBe(true);
  });

  it("names both rates, the budget, and one that would do", () => {
    expect(slowedWords(SLOWED)).toBe(
      "The collector takes 4 samples a second, not the 10 asked for: more would cost above its CPU budget, 2 % of a core. It goes up again when there is room. For the full rate start tidscope with --budget-percent 6 (0: no limit).",
    );
  });

  it("says when even the lowest rate is too much", () => {
    const lowest = { ...SLOWED, in_force_hz: 1, overhead_percent: 5 };
    expect(slowedWords(lowest)).toContain("Even so it takes more");
    expect(slowedWords(lowest)).toContain("--budget-percent 65 ");
  });

  it("never advises less than there is", () => {
    const odd = { rate_hz: 10, in_force_hz: 8, overhead_percent: null, budget_percent: 40 };
    expect(slowedWords(odd)).toContain("--budget-percent 65 ");
    expect(slowedWords({ ...odd, overhead_percent: 0.1 })).toContain("--budget-percent 41 ");
  });
});
