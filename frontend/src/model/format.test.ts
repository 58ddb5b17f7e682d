import { describe, expect, it } from "vitest";
import {
  formatDuration,
  formatRate,
  formatTotal,
  formatValue,
  shownRate,
  shownTotal,
  tickFormatter,
} from "./format";
import type { ShownUnit } from "./views";

describe("formatValue", () => {
  it.each<[number, ShownUnit, string]>([
    [1.254, "cores", "1.25 cores"],
    [12.34, "cores", "12.3 cores"],
    [0.5, "s", "0.50 s"],
    [12345.6, "s", "12\u202f346 s"],
    [0.1234, "share", "12.3 %"],
    [1536, "bytes", "1.50 KiB"],
    [1023.99, "bytes", "1.00 KiB"],
    [999, "bytes", "999 B"],
    [5 * 1024 ** 3, "bytes", "5.00 GiB"],
    [3.4 * 1024 ** 2, "bytes/s", "3.40 MiB/s"],
    [12, "1/s", "12.0 /s"],
    [136_400, "1/s", "136 k/s"],
    [1_234_567, "count", "1\u202f234\u202f567"],
    [0, "bytes", "0 B"],
    [3.406, "W", "3.41 W"],
    [0, "W", "0.00 W"],
    [999.97, "W", "1.00 kW"],
    [12_000, "J", "12.0 kJ"],
    [Number.NaN, "cores", "–"],
  ])("%d %s is %s", (value, unit, text) => {
    expect(formatValue(value, unit)).toBe(text);
  });
});

describe("tickFormatter", () => {
  it("uses one prefix and one number of digits for an axis", () => {
    const tick = tickFormatter("bytes", 512 * 1024 ** 2);
    expect([0, 128, 256].map((mib) => tick(mib * 1024 ** 2))).toEqual([
      "0 MiB",
      "128 MiB",
      "256 MiB",
    ]);
    expect([0, 0.15, 0.6].map(tickFormatter("cores", 0.6))).toEqual(["0", "0.15", "0.60"]);
    expect([0.04, 0.16].map(tickFormatter("share", 0.16))).toEqual(["4 %", "16 %"]);
    expect([40_000, 160_000].map(tickFormatter("1/s", 160_000))).toEqual(["40 k/s", "160 k/s"]);
  });
});

describe("shown units", () => {
  it("turns raw units of the catalogue into those for people", () => {
    expect(shownRate("cpu_run_ns", 1.5e9)).toEqual({ value: 1.5, unit: "cores" });
    expect(shownRate("cpu_delay_ns", 1e8)).toEqual({ value: 0.1, unit: "share" });
    expect(shownRate("user_cpu_us", 5e5)).toEqual({ value: 0.5, unit: "cores" });
    expect(shownRate("disk_read_bytes", 10)).toEqual({ value: 10, unit: "bytes/s" });
    expect(shownTotal("cpu_run_ns", 2e9)).toEqual({ value: 2, unit: "s" });
    expect(shownTotal("voluntary_switches", 3)).toEqual({ value: 3, unit: "count" });
    expect(formatRate("disk_read_bytes", 2048)).toBe("2.00 KiB/s");
    expect(formatTotal("user_cpu_us", 1_500_000)).toBe("1.50 s");
  });
});

describe("formatDuration", () => {
  it.each([
    [0.85, "850 ms"],
    [3.21, "3.2 s"],
    [59.6, "1 min 00 s"],
    [185, "3 min 05 s"],
    [7440, "2 h 04 min"],
    [200_000, "2 d 07 h"],
    [Number.NaN, "–"],
  ])("%d s is %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});
