import { describe, expect, it } from "vitest";
import { isThrottled, throttlingText } from "./throttling";

const THROTTLED = {
  rate_hz: 10,
  in_force_hz: 4,
  overhead_percent: 1.6,
  budget_percent: 2,
  slowed_by_backlog: false,
};

describe("throttlingText", () => {
  it("says nothing while the rate is the requested one, or not known", () => {
    expect(throttlingText({ ...THROTTLED, in_force_hz: 10 })).toBeNull();
    expect(throttlingText({ ...THROTTLED, in_force_hz: Number.NaN })).toBeNull();
    expect(isThrottled(THROTTLED)).toBe(true);
  });

  it("names both rates, the budget, and one that would do", () => {
    expect(throttlingText(THROTTLED)).toBe(
      "The collector samples at 4 Hz instead of the requested 10 Hz to stay within its CPU budget of 2 % of a core. The rate rises again when there is room. For the full rate, start tidscope with --budget-percent 6 (0: no limit).",
    );
  });

  it("names frames that wait where they are the cause, and no budget", () => {
    const text = throttlingText({ ...THROTTLED, slowed_by_backlog: true });
    expect(text).toContain("4 Hz instead of the requested 10 Hz because frames wait");
    expect(text).not.toContain("budget");
  });

  it("says when even the lowest rate is too much", () => {
    const lowest = { ...THROTTLED, in_force_hz: 1, overhead_percent: 5 };
    expect(throttlingText(lowest)).toContain("above the budget even at this rate");
    expect(throttlingText(lowest)).toContain("--budget-percent 65 ");
  });

  it("never advises less than there is", () => {
    const odd = { ...THROTTLED, in_force_hz: 8, overhead_percent: null, budget_percent: 40 };
    expect(throttlingText(odd)).toContain("--budget-percent 65 ");
    expect(throttlingText({ ...odd, overhead_percent: 0.1 })).toContain("--budget-percent 41 ");
  });
});
