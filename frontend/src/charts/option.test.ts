import { describe, expect, it } from "vitest";
import { axesOption } from "./option";
import { LIGHT_CHART_THEME } from "./palette";

const MINUTE = {
  t0_s: 1,
  t1_s: 61,
  attached_unix_ms: 1000,
  y_top: 0.6,
  unit: "cores",
  theme: LIGHT_CHART_THEME,
  width: 500,
  values: true,
} as const;

describe("axesOption", () => {
  it("has explicit ends and a plot that stands still", () => {
    const option = axesOption(MINUTE);
    expect(option.animation).toBe(false);
    expect(option.grid.outerBoundsMode).toBe("none");
    expect([option.xAxis.min, option.xAxis.max]).toEqual([2000, 62_000]);
    expect([option.yAxis.min, option.yAxis.max, option.yAxis.interval]).toEqual([0, 0.6, 0.15]);
    expect(option.yAxis.axisLabel.formatter(0.45)).toBe("0.45");
  });

  it("shows milliseconds where ticks are less than a second apart", () => {
    const tick = (t1_s: number) => axesOption({ ...MINUTE, t1_s }).xAxis.axisLabel.formatter(1250);
    expect(tick(61)).toMatch(/:01$/);
    expect(tick(1.1)).toMatch(/:01\.250$/);
  });
});
