import { describe, expect, it } from "vitest";
import { chart } from "../testing/charts";
import { pixelGrid } from "./plot";
import { Raster } from "./raster";

/** Scale of a buffer between two times, in seconds. */
const scaleOf = (t0_s: number, t1_s: number, pixels: number, y_top: number) => ({
  ...pixelGrid({ t0_s, t1_s }, pixels),
  y_top,
});

const STYLE = { colour: [255, 0, 0], opacity: 1, thickness: 1, dash: [] } as const;

/** Alpha of each pixel, row by row. */
function alpha(raster: Raster): number[][] {
  return Array.from({ length: raster.height }, (_, y) =>
    Array.from(
      { length: raster.width },
      (_, x) => raster.pixels[4 * (y * raster.width + x) + 3] ?? -1,
    ),
  );
}

function drawn(view: ReturnType<typeof chart>, style = {}, width = 4, height = 4): Raster {
  const raster = new Raster(width, height);
  raster.line(view, 0, scaleOf(0, width, width, height), { ...STYLE, ...style });
  return raster;
}

describe("Raster", () => {
  it("draws a level line one pixel thick", () => {
    // Value 1.5 of 4 is 2.5 from the top: the middle of the third row.
    expect(alpha(drawn(chart([0, 4], [{ low: [1.5, 1.5] }])))).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
      [255, 255, 255, 255],
      [0, 0, 0, 0],
    ]);
  });

  it("blends a line between two rows by what it covers of each", () => {
    const rows = alpha(drawn(chart([0, 4], [{ low: [1.75, 1.75] }])));
    expect([rows[1]?.[0], rows[2]?.[0]]).toEqual([64, 191]);
  });

  it("fills a band between two lines, with an edge on top", () => {
    const view = chart([0, 4], [{ low: [1, 1], high: [2, 4] }]);
    const raster = new Raster(4, 4);
    raster.area(view, 0, scaleOf(0, 4, 4, 4), { ...STYLE, fill: 0.5 });
    expect(alpha(raster)).toEqual([
      [0, 0, 0, 255],
      [0, 255, 255, 128],
      [255, 128, 128, 128],
      [0, 0, 0, 0],
    ]);
  });

  it("fills what many samples cover in a column", () => {
    const view = chart([0.2, 0.8, 2.5], [{ low: [1, 1, 1], high: [3, 1, 1] }]);
    const columns = alpha(drawn(view)).map((row) =>
      row.map((value) => (value > 100 ? "#" : ".")).join(""),
    );
    // Down to 1 at the third row's end; the high value makes the first column tall.
    expect(columns.map((row) => row[0])).toEqual(["#", "#", "#", "#"]);
    expect(columns.map((row) => row[3])).toEqual([".", ".", ".", "."]);
  });

  it("leaves a gap a gap", () => {
    const view = chart([0.5, 1.5, 2.5, 3.5], [{ low: [1.5, Number.NaN, 1.5, 1.5] }]);
    expect(alpha(drawn(view))[2]).toEqual([255, 0, 255, 255]);
  });

  it("cuts off what is outside", () => {
    const view = chart([-5, 9], [{ low: [9, 9] }]);
    expect(
      alpha(drawn(view))
        .flat()
        .every((value) => value === 0),
    ).toBe(true);
  });

  it("dashes by time: the pattern moves with the window", () => {
    const view = chart([0, 8], [{ low: [0.5, 0.5] }]);
    const at = (t0_s: number): string => {
      const raster = new Raster(4, 1);
      const style = { ...STYLE, dash: [2, 1] };
      raster.line(view, 0, scaleOf(t0_s, t0_s + 4, 4, 1), style);
      return (
        alpha(raster)[0]
          ?.map((value) => (value > 0 ? "#" : "."))
          .join("") ?? ""
      );
    };
    expect([at(0), at(1), at(2)]).toEqual(["##.#", "#.##", ".##."]);
  });

  it("draws steps upright", () => {
    const view = chart([0.5, 2.5, 3.5], [{ low: [0.5, 3.5, 3.5] }], { step: true });
    const rows = alpha(drawn(view)).map((row) =>
      row.map((value) => (value > 0 ? "#" : ".")).join(""),
    );
    expect(rows).toEqual(["..##", "..#.", "..#.", "###."]);
  });

  it("lays a faded line over another", () => {
    const raster = drawn(chart([0, 4], [{ low: [1.5, 1.5] }]));
    const view = chart([0, 4], [{ low: [1.5, 1.5] }]);
    const style = { ...STYLE, colour: [0, 0, 255] as const, opacity: 0.5 };
    raster.line(view, 0, scaleOf(0, 4, 4, 4), style);
    expect([...raster.pixels.subarray(32, 36)]).toEqual([128, 0, 128, 255]);
  });

  it("fills bands that meet without a gap, up to the next column's time", () => {
    const view = chart(
      [0, 2, 4],
      [
        { low: [0, 0, 0], high: [1, 3, 3] },
        { low: [1, 3, 3], high: [4, 4, 4] },
      ],
    );
    const raster = new Raster(4, 4);
    for (const [index, opacity] of [1, 0.5].entries()) {
      const style = { colour: [255, 0, 0], opacity, stripe: 0 } as const;
      raster.band(view, index, scaleOf(0, 4, 4, 4), style);
    }
    expect(alpha(raster)).toEqual([
      [128, 128, 128, 128],
      [128, 128, 255, 255],
      [128, 128, 255, 255],
      [255, 255, 255, 255],
    ]);
  });

  it("leaves the upper row of a thick band free, and columns without a value", () => {
    const view = chart([0, 1, 4], [{ low: [0, Number.NaN, 0], high: [4, Number.NaN, 4] }]);
    const raster = new Raster(4, 4);
    const style = { colour: [1, 2, 3], opacity: 1, stripe: 0 } as const;
    raster.band(view, 0, scaleOf(0, 4, 4, 4), style);
    expect(alpha(raster).map((row) => row.join())).toEqual([
      "0,0,0,0",
      ...Array.from({ length: 3 }, () => "255,0,0,0"),
    ]);
  });

  it("stripes a band in two strengths, the same ones when the window has moved", () => {
    const band = (t0_s: number): string[] => {
      const view = chart([0, 20], [{ low: [0, 0], high: [2, 2] }]);
      const raster = new Raster(12, 2);
      const style = { colour: [9, 9, 9], opacity: 0.25, stripe: 1 } as const;
      raster.band(view, 0, scaleOf(t0_s, t0_s + 12, 12, 2), style);
      return alpha(raster).map((row) => row.join());
    };
    const strong = 192;
    const plain = 64;
    expect(band(0)[0]).toBe(
      Array.from({ length: 12 }, (_, x) => (x % 4 === 0 ? strong : plain)).join(),
    );
    expect(band(4)).toEqual(band(0));
    expect(band(1)[0]?.startsWith(`${plain},${plain},${plain},${strong}`)).toBe(true);
  });
});
