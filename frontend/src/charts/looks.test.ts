import { describe, expect, it } from "vitest";
import { PARTS } from "../model/breakdown";
import { chart, line } from "../testing/charts";
import { began, decided, steerView } from "../testing/steering";
import { describeChart, describeEvent, describeTimes, lineName, othersNote } from "./describe";
import { markerSvg } from "./marker";
import { axesOption } from "./option";
import { DARK_CHART_THEME, LIGHT_CHART_THEME, lineStyle, partStyle, roleStyle } from "./palette";
import { hexRgb } from "./rgb";
import { sparkPath } from "./spark_path";
import { between, shifted, zoomed } from "./zoom";

/** Contrast of two colours (WCAG 2.2, relative luminance). */
function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [a, b]
    .map((colour) => {
      const [r = 0, g = 0, blue = 0] = (hexRgb(colour) ?? [0, 0, 0]).map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
    })
    .sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

describe("describeTimes", () => {
  const parts = { cpu: 3, queue: 1, blkio: Number.NaN, swapin: Number.NaN, memory: 0.01 };
  const row = {
    ...{ key: "", name: "all threads", role_index: 0, threads: 2, wall_s: 10 },
    parts: { ...parts, irq: 0, unsplit: 5.99, rest: 0 },
  };
  const times = {
    scope: "process",
    name: "all threads",
    whole: row,
    roles: [],
    absent: [],
  } as const;

  it("gives shares, largest first, and leaves out what is next to nothing", () => {
    expect(describeTimes(times)).toBe(
      "all threads: rest, not split 60 %, on CPU 30 %, waiting for a CPU 10 %.",
    );
  });

  it("names what is not available, once", () => {
    const absent = [
      { part: "blkio", reason: "off" },
      { part: "blkio", reason: "old" },
    ] as const;
    expect(describeTimes({ ...times, absent })).toMatch(/Not fully available: block I\/O\.$/);
  });

  it("says that no thread lived", () => {
    expect(describeTimes({ ...times, whole: { ...row, wall_s: 0 } })).toMatch(/no thread lived/);
  });
});

describe("palette", () => {
  it.each([LIGHT_CHART_THEME, DARK_CHART_THEME])("can be seen on its background: %o", (theme) => {
    const roles = Array.from({ length: 8 }, (_, i) => roleStyle(i, theme).colour);
    for (const colour of [...roles, theme.read, theme.written, theme.others]) {
      expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(3);
    }
    expect(contrast(theme.muted, theme.background)).toBeGreaterThanOrEqual(4.5);
  });

  it.each([LIGHT_CHART_THEME, DARK_CHART_THEME])("shows each part of time: %o", (theme) => {
    const styles = PARTS.map((part) => partStyle(part, theme));
    const looks = styles.map(({ colour, opacity, striped }) => [colour, opacity, striped].join());
    expect(new Set(looks).size).toBe(PARTS.length);
    for (const { colour } of styles) {
      expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(3);
    }
  });

  it("gives forty roles forty looks, by more than colour", () => {
    const looks = Array.from({ length: 40 }, (_, i) => roleStyle(i, LIGHT_CHART_THEME));
    expect(new Set(looks.map(({ colour, marker }) => colour + marker)).size).toBe(40);
  });

  it.each([LIGHT_CHART_THEME, DARK_CHART_THEME])(
    "tells neighbours in a role apart, stable per thread, seen on the background: %o",
    (theme) => {
      for (let role_index = 0; role_index < 8; role_index++) {
        const shades = [10, 11, 12, 13].map(
          (tid) => lineStyle(line({ tid, role_index }), "cpu", theme).colour,
        );
        expect(new Set(shades).size).toBe(3);
        expect(shades[3]).toBe(shades[0]);
        for (const shade of shades) {
          expect(contrast(shade, theme.background)).toBeGreaterThanOrEqual(3);
        }
      }
    },
  );

  it("draws read in red and written in green, the second of a pair dashed", () => {
    const read = lineStyle(line({ variant: 0 }), "disk", LIGHT_CHART_THEME);
    const written = lineStyle(line({ variant: 1 }), "disk", LIGHT_CHART_THEME);
    expect([read.colour, written.colour]).toEqual([
      LIGHT_CHART_THEME.read,
      LIGHT_CHART_THEME.written,
    ]);
    expect(read.dash).toEqual([]);
    expect(written.dash).not.toEqual([]);
  });
});

describe("axesOption", () => {
  it("has explicit ends and a plot that stands still", () => {
    const option = axesOption({
      t0_s: 1,
      t1_s: 61,
      attached_unix_ms: 1000,
      y_top: 0.6,
      unit: "cores",
      theme: LIGHT_CHART_THEME,
      width: 500,
      values: true,
    });
    expect(option.animation).toBe(false);
    expect(option.grid.outerBoundsMode).toBe("none");
    expect([option.xAxis.min, option.xAxis.max]).toEqual([2000, 62_000]);
    expect([option.yAxis.min, option.yAxis.max, option.yAxis.interval]).toEqual([0, 0.6, 0.15]);
    expect(option.yAxis.axisLabel.formatter(0.45)).toBe("0.45");
  });
});

describe("words", () => {
  const view = chart(
    [0, 1],
    [
      { line: line({ name: "worker-1", tid: 7, last: 0.25 }), low: [0, 0.25] },
      { line: line({ last: 1.5 }), low: [0, 1.5] },
      {
        line: line({ key: null, tid: null, name: "others", kind: "others", last: 9 }),
        low: [9, 9],
      },
    ],
    { others: 12 },
  );

  it("describes a chart by its largest lines", () => {
    expect(describeChart(view, "CPU per thread")).toBe(
      "CPU per thread, 10 s: main (1) 1.50 cores, worker-1 (7) 0.25 cores. 12 more threads in one line.",
    );
    expect(describeChart({ ...view, state: "absent", reason: "needs eBPF" }, "Network")).toBe(
      "Network: not available. needs eBPF",
    );
    expect(describeChart(null, "CPU")).toBe("CPU: loading.");
    expect(othersNote(view)).toBe("others ↑ 9.00 cores");
    expect(lineName(line({ variant_name: "read" }))).toBe("main (1) read");
  });

  it("describes events", () => {
    const exited = { type: "target_exited", exit_code: 256 } as const;
    expect(describeEvent(exited)).toBe("The process ended with exit code 1.");
    expect(describeEvent({ ...exited, exit_code: 9 })).toBe("The process ended with signal 9.");
    const adapted = { type: "rate_adapted", requested_hz: 10, budget_percent: 2 } as const;
    expect(describeEvent({ ...adapted, rate_hz: 4, previous_hz: 10, overhead_percent: 4.96 })).toBe(
      "Sampling went from 10 to 4 a second by itself: it took 5.0 % of a core, of a budget of 2 %. 10 are asked for.",
    );
    expect(
      describeEvent({ ...adapted, rate_hz: 10, previous_hz: 4, overhead_percent: 0.5 }),
    ).toContain("from 4 back to 10 a second");
    expect(describeEvent({ type: "exit_records_lost", count: 1 })).toBe(
      "1 exit record was lost on this host.",
    );
    expect(describeEvent({ type: "gap", from_seq: 5, to_seq: 6, reason: "slow" })).toBe(
      "2 frames are missing: slow.",
    );
  });

  it("tells what steers", () => {
    const actor = "a page at 127.0.0.1";
    const policy = "kalman-kg";
    expect(describeEvent(began())).toBe(
      "kalman-kg steers from size 16, between 1 and 16, on operations of the agent. Asked for by a page at 127.0.0.1.",
    );
    expect(describeEvent(began({ shadow: true, proxy: true, signal: "network-calls" }))).toContain(
      "decides in shadow mode from size 16, between 1 and 16, on network calls, which stands in for ops.",
    );
    expect(describeEvent(decided(3, 8, 9))).toBe("kalman-kg: 8 → 9. 9 may be better.");
    expect(describeEvent(decided(3, 8, 8))).toBe("kalman-kg stays at 8. 8 may be better.");
    expect(describeEvent({ type: "search_restarted", policy, reason: "a phase", actor })).toBe(
      "kalman-kg searches anew: a phase (a page at 127.0.0.1).",
    );
    expect(describeEvent({ type: "steering_released", policy, size: 16, actor })).toContain(
      "size 16 again",
    );
    expect(describeEvent({ type: "steering_problem", policy, problem: null })).toBe(
      "kalman-kg works again.",
    );
  });

  it("tells it in the words of the timeline, and of no other chart", () => {
    const sizes = [{ line: line({ key: null, tid: null, name: "GOMAXPROCS", last: 9 }), low: [9] }];
    const view = chart([5], sizes, { chart: "gomaxprocs", unit: "count", t1_s: 9.95 });
    const words = describeChart(view, "GOMAXPROCS", steerView());
    expect(words).toMatch(/^GOMAXPROCS, 10 s: GOMAXPROCS 9\. Steered by kalman-kg\. 2 decisions/);
    expect(describeChart({ ...view, chart: "cpu" }, "CPU", steerView())).not.toContain("Steered");
  });
});

describe("small drawings", () => {
  it("draws sparklines from 0 up, with gaps", () => {
    expect(sparkPath(Float32Array.of(0, 2, Number.NaN, 4), 30, 10)).toBe(
      "M0.0,9.0L10.0,5.0M30.0,1.0",
    );
    expect(sparkPath(new Float32Array(0), 30, 10)).toBe("");
  });

  it("draws markers", () => {
    expect(markerSvg("none", 5, 5)).toBe("");
    expect(markerSvg("triangle", 0, 0)).toMatch(/^M0,-4.*Z$/);
  });
});

describe("time windows", () => {
  const span = { t0_s: 10, t1_s: 20 };

  it("zoom around a moment, and a live one stays live", () => {
    expect(zoomed({ kind: "fixed", ...span }, span, 15, 0.5)).toEqual({
      kind: "fixed",
      t0_s: 12.5,
      t1_s: 17.5,
    });
    expect(zoomed({ kind: "last", seconds: 10 }, span, 15, 2)).toEqual({
      kind: "last",
      seconds: 20,
    });
    expect(zoomed({ kind: "last", seconds: 600 }, { t0_s: 0, t1_s: 600 }, 1, 2)).toEqual({
      kind: "last",
      seconds: 600,
    });
  });

  it("come from a drag, either way, unless it was none", () => {
    expect(between(5, 3)).toEqual({ kind: "fixed", t0_s: 3, t1_s: 5 });
    expect(between(5, 5.1)).toBeNull();
    expect(shifted(span, -2)).toEqual({ kind: "fixed", t0_s: 8, t1_s: 18 });
  });
});
