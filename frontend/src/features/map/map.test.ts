import { describe, expect, it } from "vitest";
import { DARK_CHART_THEME, LIGHT_CHART_THEME } from "../../chart/palette";
import { hexRgb } from "../../chart/raster";
import { ramp, scaleTicks, stepOf } from "../../chart/stateColours";
import type { MapLayout } from "../../stream/mapLayout";
import { type MapPicture, type MapView, NO_FIELD, nextPicture } from "../../stream/mapPicture";
import { packCell } from "../../stream/states";
import { mapPlot, rowBox, rowUnder } from "./mapPlot";
import { cellSentence, cellText, describeMap, moveCursor } from "./mapText";

/** Relative luminance (WCAG 2.2). */
function luminance(rgb: ArrayLike<number>): number {
  const [red = 0, green = 0, blue = 0] = Array.from(rgb, (part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe("colours", () => {
  it.each([true, false])(
    "go one way in lightness, so that no hue need be seen (dark: %s)",
    (dark) => {
      const colours = ramp(dark);
      const lights = Array.from({ length: 256 }, (_, i) =>
        luminance(colours.subarray(3 * i, 3 * i + 3)),
      );
      for (let i = 8; i < 256; i += 8) {
        const [before = 0, now = 0] = [lights[i - 8], lights[i]];
        expect(dark ? now - before : before - now).toBeGreaterThan(0);
      }
      // The lightness range is wide enough for distinct steps, and idle differs from the
      // background.
      const [low = 0, high = 0] = [lights[0], lights[255]].sort((a, b) => (a ?? 0) - (b ?? 0));
      expect((high + 0.05) / (low + 0.05)).toBeGreaterThan(6);
      const theme = dark ? DARK_CHART_THEME : LIGHT_CHART_THEME;
      const ground = luminance(hexRgb(theme.background) ?? []);
      const idle = lights[0] ?? 0;
      const contrast = (Math.max(idle, ground) + 0.05) / (Math.min(idle, ground) + 0.05);
      expect(contrast).toBeGreaterThan(1.25);
    },
  );

  it("spread values evenly, or by powers of ten", () => {
    const linear = { top: 2, log: false };
    expect([0, 1, 2, 5, Number.NaN].map((value) => stepOf(value, linear))).toEqual([
      0, 128, 255, 255, 0,
    ]);
    const log = { top: 1, log: true };
    expect([0, 0.0001, 0.001, 0.01, 0.1, 1].map((value) => stepOf(value, log))).toEqual([
      0, 0, 0, 85, 170, 255,
    ]);
    expect(scaleTicks(log).map(({ value }) => value)).toEqual([0.001, 0.01, 0.1, 1]);
    expect(scaleTicks(linear).map(({ value }) => value)).toEqual([0, 1, 2]);
  });
});

const LAYOUT: MapLayout = {
  rows: 2,
  first: Int32Array.from([0, 1, 3]),
  gone: new Uint16Array(2),
  tid: Uint32Array.from([1, 2, 3]),
  start_ns: Float64Array.from([0, 0, 0]),
  names: ["main", "worker-1", "worker-2"],
  processes: ["", "", ""],
  colours: Uint32Array.from([1, 5, 3]),
  from_s: Float64Array.from([0, 0, 0]),
  until_s: new Float64Array(3).fill(Number.POSITIVE_INFINITY),
  groups: [
    { role: "main", colour: 0, fold: null, heading: false, row: 0, rows: 1, threads: 1 },
    { role: "worker-#", colour: 3, fold: null, heading: false, row: 1, rows: 1, threads: 2 },
  ],
  lanes: 3,
  together: Uint16Array.from([1, 2]),
  per_row: 2,
};

/** Columns 10 to 12 of half a second; main 1 core, the workers' maximum 0.25 by the second one. */
function picture(changes: Partial<MapView> = {}): MapPicture {
  const view: MapView = {
    state: "ok",
    reason: "",
    field: "cpu_run_ns",
    unit: "cores",
    mix: "max",
    t0_s: 5,
    t1_s: 7,
    now_s: 6.5,
    attached_unix_ms: new Date(2026, 0, 1, 12, 0, 0).getTime(),
    bin_s: 0.5,
    bin_px: 10,
    capacity: 6,
    layout: LAYOUT,
    continues: false,
    from: 10,
    columns: 3,
    values: Float32Array.from([1, 0.25, 1, 0.25, -1, Number.NaN]),
    highest: Uint16Array.from([0, 1, 0, 1, 0, 0]),
    shares: new Uint32Array(0),
    peak: Float32Array.from([1, 1, 0]),
    born: Uint16Array.from([0, 2, 0]),
    exited: Uint16Array.from([0, 0, 1]),
    since_s: null,
    first_s: 0,
    gaps: [],
    ...changes,
  };
  const made = nextPicture(null, view);
  if (!made) throw new Error("no picture");
  return made;
}

describe("words", () => {
  it("name thread, time and value, and what shares the row", () => {
    const words = cellText(picture(), 5.6, "2@0");
    expect(words && cellSentence(words)).toBe(
      "worker-2 (3), 12:00:05.500: 0.250 cores; highest of the 2 threads in this row; " +
        "2 born in these 500 ms",
    );
  });

  it("say what a cell without a value is", () => {
    expect(cellText(picture(), 6.2, "1@0")?.value).toBe("no value for this thread");
    expect(cellText(picture(), 6.2, "2@0")).toMatchObject({
      value: "not running",
      notes: ["1 more thread in this row at other times", "1 exited in these 500 ms"],
    });
    expect(cellText(picture(), 6.8, "1@0")?.value).toBe("not sampled");
    expect(cellText(picture(), 5, "77@0")).toBeNull();
  });

  it("say how a cell's time was shared among states", () => {
    const cell = (shares: readonly [number, number, number], unswitched: boolean) =>
      packCell({ shares, second: 4, third: 0, unswitched });
    const map = picture({
      ...{ field: "state", unit: "share" },
      values: Float32Array.from([1, 5, 1, 5, NO_FIELD, Number.NaN]),
      shares: Uint32Array.from([cell([0.8, 0.2, 0], false), cell([1, 0, 0], true), 0, 0, 0, 0]),
    });
    const first = cellText(map, 5.2, "1@0");
    expect(first && cellSentence(first)).toBe(
      "main (1), 12:00:05.000: Running 80 %, Waiting for a lock or condition (futex) 20 %",
    );
    expect(cellText(map, 5.2, "2@0")).toMatchObject({
      value: "Waiting for events (epoll, poll, sigwait)",
      notes: [
        "not switched since attach: as /proc says",
        "time of the 2 threads in this row; named is the one that was idle least",
      ],
    });
    expect(cellText(map, 6.2, "1@0")?.value).toBe("no ledger of this thread");
  });

  it("describe the map", () => {
    expect(describeMap(picture(), "CPU time")).toContain("3 threads by role (worker-# 2, main 1)");
    expect(describeMap(picture({ state: "absent", reason: "no eBPF" }), "x")).toContain("no eBPF");
    expect(describeMap(null, "CPU time")).toContain("loading");
  });
});

describe("moveCursor", () => {
  const at = (column: number, key: string) => ({ t_s: (column + 0.5) / 2, key });

  it("appears at the newest column of the first row", () => {
    expect(moveCursor(picture(), null, "ArrowLeft")).toEqual(at(12, "1@0"));
  });

  it("moves by column and row, to the highest thread of a row, and stays inside", () => {
    const map = picture();
    expect(moveCursor(map, at(12, "1@0"), "ArrowLeft")).toEqual(at(11, "1@0"));
    expect(moveCursor(map, at(11, "1@0"), "ArrowDown")).toEqual(at(11, "3@0"));
    expect(moveCursor(map, at(11, "3@0"), "PageDown")).toEqual(at(11, "3@0"));
    expect(moveCursor(map, at(11, "3@0"), "Home")).toEqual(at(10, "3@0"));
    expect(moveCursor(map, at(10, "1@0"), "ArrowLeft")).toEqual(at(10, "1@0"));
    expect(moveCursor(map, at(10, "1@0"), "End")).toEqual(at(12, "1@0"));
    expect(moveCursor(map, at(10, "1@0"), "x")).toBeNull();
  });

  it("passes headings by, which have no threads", () => {
    // A heading, a thread, a heading, two threads.
    const first = Int32Array.from([0, 0, 1, 1, 3]);
    const rows = { rows: 4, first, gone: new Uint16Array(4), together: new Uint16Array(4) };
    const map = picture({
      layout: { ...LAYOUT, ...rows },
      values: new Float32Array(12),
      highest: new Uint16Array(12),
    });
    expect(moveCursor(map, null, "ArrowDown")).toEqual(at(12, "1@0"));
    expect(moveCursor(map, at(12, "1@0"), "ArrowDown")).toEqual(at(12, "2@0"));
    expect(moveCursor(map, at(12, "2@0"), "ArrowUp")).toEqual(at(12, "1@0"));
    expect(moveCursor(map, at(12, "1@0"), "ArrowUp")).toEqual(at(12, "1@0"));
  });
});

describe("mapPlot", () => {
  it("gives each row whole pixels, and finds the row under one", () => {
    const plot = mapPlot({ width: 800, height: 348 }, null, 200, 1);
    expect(plot.edges[200]).toBe(300);
    for (let row = 0; row < 200; row++) {
      const { y, height } = rowBox(plot, row);
      expect(height).toBeGreaterThanOrEqual(1);
      expect([rowUnder(plot, y), rowUnder(plot, y + height - 0.5)]).toEqual([row, row]);
    }
    expect([rowUnder(plot, plot.top - 1), rowUnder(plot, plot.top + 300)]).toEqual([-1, -1]);
  });

  it("does not stretch few rows over all of it", () => {
    expect(rowBox(mapPlot({ width: 800, height: 348 }, null, 2, 2), 0).height).toBe(28);
  });
});
