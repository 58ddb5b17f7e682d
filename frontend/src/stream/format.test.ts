import { describe, expect, it } from "vitest";
import {
  axisFormatter,
  exitStatusText,
  formatDifference,
  formatDuration,
  formatNumber,
  formatPercent,
  formatTenths,
  formatValue,
  shortenMiddle,
  shownRate,
  shownTotal,
} from "./format";
import type { ShownUnit } from "./views";

const UNITS: readonly ShownUnit[] = [
  ...(["W", "J", "cores", "threads", "s", "ms", "share"] as const),
  ...(["bytes", "bytes/s", "1/s", "count"] as const),
];

/** Whether a text shows a zero value. */
function readsAsZero(text: string): boolean {
  return !/[1-9<>]/.test(text.replace(/[^0-9.<>]/g, ""));
}

/** Values from tiny to huge, each with its negative, evenly spread over the orders of magnitude. */
function* values(): Generator<number> {
  for (let exponent = -12; exponent < 15; exponent += 0.037) {
    yield 10 ** exponent;
    yield -(10 ** exponent);
  }
}

describe("any value", () => {
  it("reads as zero only if it is zero", () => {
    for (const unit of UNITS) {
      expect(readsAsZero(formatValue(0, unit))).toBe(true);
      for (const value of values()) {
        const text = formatValue(value, unit);
        expect(readsAsZero(text), `${value} ${unit}: ${text}`).toBe(false);
        expect(formatNumber(value, unit)).toContain(text.split(" ")[0]);
      }
    }
    for (const value of values()) {
      for (const format of [formatDuration, formatPercent, formatDifference]) {
        const text = format(value);
        expect(readsAsZero(text), `${value}: ${text}`).toBe(false);
      }
    }
  });

  it("has three significant digits, unless it is said to be less or counts whole things", () => {
    for (const unit of UNITS) {
      for (const value of values()) {
        const [number = ""] = formatValue(value, unit).split(" ");
        if (/[<>]/.test(number)) continue;
        const found = number.replace(/[^0-9]/g, "").replace(/^0+/, "");
        expect(found.length, `${value} ${unit}: ${number}`).toBeGreaterThanOrEqual(3);
      }
    }
  });
});

describe("formatValue", () => {
  it.each<[number, ShownUnit, string]>([
    [1.254, "cores", "1.25 cores"],
    [12.34, "cores", "12.3 cores"],
    [0.5, "s", "0.500 s"],
    [0.1234, "cores", "0.123 cores"],
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
    [1234, "count", "1\u202f234"],
    [-98_765, "count", "-98\u202f765"],
    [-0.2, "count", "-0.200"],
    [2.5, "count", "2.50"],
    [0, "bytes", "0 B"],
    [3.406, "W", "3.41 W"],
    [0, "W", "0 W"],
    [0.0032, "cores", "0.00320 cores"],
    [0.000_014, "cores", "<0.001 cores"],
    [0.3, "bytes/s", "0.300 B/s"],
    [0, "cores", "0 cores"],
    [0.000_05, "s", "50.0 µs"],
    [0.000_02, "share", "<0.01 %"],
    [0.000_000_2, "share", "<0.01 %"],
    [999.97, "W", "1.00 kW"],
    [12_000, "J", "12.0 kJ"],
    [Number.NaN, "cores", "–"],
  ])("%d %s is %s", (value, unit, text) => {
    expect(formatValue(value, unit)).toBe(text);
  });
});

describe("formatNumber", () => {
  it.each<[number, ShownUnit, string]>([
    [0.62, "cores", "0.620"],
    [0.0032, "cores", "0.00320"],
    [12.34, "s", "12.3"],
    [0.004, "s", "4.00 ms"],
    [554, "1/s", "554"],
    [1230, "1/s", "1.23 k"],
    [2048, "bytes/s", "2.00 KiB"],
    [0, "bytes/s", "0 B"],
    [8 * 1024 ** 2, "bytes", "8.00 MiB"],
    [0.102, "share", "10.2 %"],
    [0.0032, "W", "3.20 mW"],
    [Number.NaN, "cores", "–"],
  ])("%d %s is %s", (value, unit, text) => {
    expect(formatNumber(value, unit)).toBe(text);
  });
});

describe("axisFormatter", () => {
  const labels = (unit: ShownUnit, top: number, parts = 4) =>
    Array.from({ length: parts + 1 }, (_, i) => (i * top) / parts).map(
      axisFormatter(unit, top, top / parts),
    );

  it.each<[ShownUnit, number, string[]]>([
    ["cores", 0.01, ["0", "0.0025", "0.0050", "0.0075", "0.0100"]],
    ["cores", 0.02, ["0", "0.005", "0.010", "0.015", "0.020"]],
    ["cores", 0.6, ["0", "0.15", "0.30", "0.45", "0.60"]],
    ["cores", 8, ["0", "2", "4", "6", "8"]],
    ["share", 0.01, ["0", "0.25 %", "0.50 %", "0.75 %", "1.00 %"]],
    ["share", 0.16, ["0", "4 %", "8 %", "12 %", "16 %"]],
    ["s", 0.01, ["0", "2.5 ms", "5.0 ms", "7.5 ms", "10.0 ms"]],
    ["bytes", 512 * 1024 ** 2, ["0", "128 MiB", "256 MiB", "384 MiB", "512 MiB"]],
    ["bytes", 1024 ** 3, ["0", "0.25 GiB", "0.50 GiB", "0.75 GiB", "1.00 GiB"]],
    ["1/s", 160_000, ["0", "40 k/s", "80 k/s", "120 k/s", "160 k/s"]],
    ["count", 10, ["0", "2.5", "5.0", "7.5", "10.0"]],
  ])("%s up to %d", (unit, top, texts) => {
    expect(labels(unit, top)).toEqual(texts);
  });

  it("never gives two neighbours on an axis the same text, and 0 to zero only", () => {
    for (const unit of UNITS) {
      for (let max = 1e-9; max < 1e15; max *= 1.37) {
        for (const parts of [3, 4, 5]) {
          const texts = labels(unit, max, parts);
          expect(new Set(texts).size, texts.join()).toBe(texts.length);
          expect(texts.slice(1).filter(readsAsZero), texts.join()).toEqual([]);
        }
      }
    }
  });
});

describe("shortenMiddle", () => {
  it("keeps both ends", () => {
    expect(shortenMiddle("http-nio-8080-exec-12", 12)).toBe("http-n…ec-12");
    expect(shortenMiddle("worker-1", 12)).toBe("worker-1");
    expect([...shortenMiddle("GC 🗑 thread of the heap", 9)]).toHaveLength(9);
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
    const { value, unit } = shownTotal("user_cpu_us", 1_500_000);
    expect(formatValue(value, unit)).toBe("1.50 s");
  });
});

describe("percent", () => {
  it("is whole, and neither nothing nor all unless it is", () => {
    expect([0, 0.002, 0.126, 0.998, 1].map(formatPercent)).toEqual([
      "0 %",
      "<1 %",
      "13 %",
      ">99 %",
      "100 %",
    ]);
  });

  it("has a sign as a difference", () => {
    expect([0, 12.34, -0.4, 0.034, -1234.4, 0.0001].map(formatDifference)).toEqual([
      "0 %",
      "+12.3 %",
      "−0.4 %",
      "+0.03 %",
      "−1\u202f234 %",
      "+<0.001 %",
    ]);
  });
});

it("shows no digits of a percentage that were not measured", () => {
  expect([0, 0.04, 0.9, 12.34, 99.94, 151.2, Number.NaN].map(formatTenths)).toEqual([
    ...["0 %", "0 %", "0.9 %", "12.3 %", "99.9 %", "151 %", "–"],
  ]);
});

describe("formatDuration", () => {
  it.each([
    [0.85, "850 ms"],
    [0.05, "50 ms"],
    [0.003_21, "3.21 ms"],
    [0.000_32, "320 µs"],
    [0, "0 ms"],
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

it.each([
  [null, "exit status unknown"],
  [0, "exit code 0"],
  [3 << 8, "exit code 3"],
  [9, "killed by SIGKILL"],
  [11 | 0x80, "killed by SIGSEGV"],
  [40, "killed by signal 40"],
])("describes %s", (status, words) => {
  expect(exitStatusText(status)).toBe(words);
});
