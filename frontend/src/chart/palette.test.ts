import { describe, expect, it } from "vitest";
import { PARTS, STATE_PARTS } from "../stream/breakdown";
import { threadColour } from "../stream/threads";
import { line } from "../testing/charts";
import {
  colourStyle,
  DARK_CHART_THEME,
  hueStyle,
  LIGHT_CHART_THEME,
  lineStyle,
  partStyle,
} from "./palette";
import { hexRgb } from "./raster";
import { groupColours } from "./stateColours";

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

/**
 * Simulated forms of colour vision (Machado, Oliveira and Fernandes 2009, severity 1), for linear
 * RGB.
 */
const SIGHTS: Readonly<Record<string, readonly (readonly number[])[]>> = {
  trichromat: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanope: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranope: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanope: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const SIGHT = SIGHTS.trichromat ?? [];

function times(matrix: readonly (readonly number[])[], values: readonly number[]): number[] {
  return matrix.map((row) => row.reduce((sum, each, k) => sum + each * (values[k] ?? 0), 0));
}

/** A colour under a form of colour vision, in OKLab (Ottosson 2020): distances are perceptual. */
function labOf(colour: string, sight: readonly (readonly number[])[]): number[] {
  const linear = (hexRgb(colour) ?? [0, 0, 0]).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const seen = times(sight, linear).map((part) => Math.min(1, Math.max(0, part)));
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    seen,
  ).map(Math.cbrt);
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
}

describe("palette", () => {
  it.each([LIGHT_CHART_THEME, DARK_CHART_THEME])("can be seen on its background: %o", (theme) => {
    const roles = Array.from({ length: 8 }, (_, i) => hueStyle(i, theme).colour);
    for (const colour of [...roles, theme.read, theme.written, theme.others]) {
      expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(3);
    }
    expect(contrast(theme.muted, theme.background)).toBeGreaterThanOrEqual(4.5);
  });

  it("gives a line of one process of a group its colour, and that of the target none", () => {
    const own = { ...line({}), kind: "process", colour: 21 } as const;
    const style = lineStyle({ ...own, pid: 7 }, "gomaxprocs", LIGHT_CHART_THEME);
    expect(style).toMatchObject(colourStyle(21, LIGHT_CHART_THEME));
    expect(lineStyle(own, "gomaxprocs", LIGHT_CHART_THEME).colour).toBe(LIGHT_CHART_THEME.text);
  });

  it.each([LIGHT_CHART_THEME, DARK_CHART_THEME])("shows each part of time: %o", (theme) => {
    const styles = PARTS.map((part) => partStyle(part, theme));
    const distinct = styles.map(({ colour, opacity, striped }) =>
      [colour, opacity, striped].join(),
    );
    expect(new Set(distinct).size).toBe(PARTS.length);
    for (const { colour } of styles) {
      expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(3);
    }
  });

  it.each([LIGHT_CHART_THEME, DARK_CHART_THEME])("shows each state: %o", (theme) => {
    const colours = STATE_PARTS.map((part) => partStyle(part, theme).colour);
    expect(new Set(colours).size).toBe(STATE_PARTS.length);
    for (const colour of [...colours, ...Object.values(groupColours(theme.dark))]) {
      expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(3);
    }
  });

  const sights = Object.entries(SIGHTS).flatMap(([sight, matrix]) =>
    [false, true].map((dark) => [sight, dark, matrix] as const),
  );
  it.each(sights)("keeps groups of states apart: %s, dark: %s", (_sight, dark, matrix) => {
    const groups = Object.entries(groupColours(dark));
    for (const [i, [a, one]] of groups.entries()) {
      for (const [b, other] of groups.slice(i + 1)) {
        const apart = Math.hypot(
          ...labOf(one, matrix).map((x, k) => x - (labOf(other, matrix)[k] ?? 0)),
        );
        expect([a, b, Math.round(100 * apart) >= 5]).toEqual([a, b, true]);
      }
    }
  });

  it.each(sights)("keeps roles apart: %s, dark: %s", (_sight, dark, matrix) => {
    const theme = dark ? DARK_CHART_THEME : LIGHT_CHART_THEME;
    const hues = Array.from({ length: 8 }, (_, hue) => labOf(hueStyle(hue, theme).colour, matrix));
    const apart = hues.flatMap((one, i) =>
      hues.slice(i + 1).map((other) => Math.hypot(...one.map((x, k) => x - (other[k] ?? 0)))),
    );
    expect(Math.min(...apart)).toBeGreaterThan(0.06);
  });

  it("has hues again in another lightness", () => {
    const [first, second] = [0, 8].map((role) => hueStyle(role, LIGHT_CHART_THEME).colour);
    const [a, b] = [labOf(first ?? "", SIGHT), labOf(second ?? "", SIGHT)];
    expect((a[0] ?? 0) - (b[0] ?? 0)).toBeGreaterThan(0.1);
  });

  it("gives forty roles forty styles, by more than colour", () => {
    const styles = Array.from({ length: 40 }, (_, i) => hueStyle(i, LIGHT_CHART_THEME));
    expect(new Set(styles.map(({ colour, marker }) => colour + marker)).size).toBe(40);
  });

  it.each([LIGHT_CHART_THEME, DARK_CHART_THEME])(
    "tells neighbours in a role apart, stable per thread, seen on the background: %o",
    (theme) => {
      for (let role = 0; role < 8; role++) {
        const shades = [10, 11, 12, 13].map(
          (tid) => lineStyle(line({ tid, colour: threadColour(role, tid) }), "cpu", theme).colour,
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
