import { describe, expect, it } from "vitest";
import { PARTS } from "../model/breakdown";
import { threadColour } from "../model/threads";
import { line } from "../testing/charts";
import { DARK_CHART_THEME, hueStyle, LIGHT_CHART_THEME, lineStyle, partStyle } from "./palette";
import { hexRgb } from "./rgb";

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

describe("palette", () => {
  it.each([LIGHT_CHART_THEME, DARK_CHART_THEME])("can be seen on its background: %o", (theme) => {
    const roles = Array.from({ length: 8 }, (_, i) => hueStyle(i, theme).colour);
    for (const colour of [...roles, theme.read, theme.written, theme.others]) {
      expect(contrast(colour, theme.background)).toBeGreaterThanOrEqual(3);
    }
    expect(contrast(theme.muted, theme.background)).toBeGreaterThanOrEqual(4.5);
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
