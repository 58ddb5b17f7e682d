import { describe, expect, it } from "vitest";
import { changeGround, hueGround, kindGround, plainGround } from "./flamePalette";
import { CHART_THEMES, DARK_CHART_THEME, LIGHT_CHART_THEME } from "./palette";
import { hexRgb } from "./raster";

/** Contrast by WCAG 2. */
function contrast(a: string, b: string): number {
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = (hexRgb(colour) ?? []).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [most = 0, least = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (most + 0.05) / (least + 0.05);
}

const THEMES = [
  LIGHT_CHART_THEME,
  DARK_CHART_THEME,
  CHART_THEMES.light,
  CHART_THEMES.dark,
] as const;
const KINDS = [
  ...["kernel", "native", "go", "python", "java", "v8", "ruby", "php", "perl", "dotnet"],
  ...["beam", "lua", "unknown", "of a later backend"],
];

describe.each(THEMES)("grounds", (theme) => {
  it("leave text legible", () => {
    for (let index = 0; index < 8; index++) {
      expect(contrast(hueGround(index, theme), theme.text)).toBeGreaterThan(4.5);
    }
    for (const kind of KINDS) {
      expect(contrast(kindGround(kind, theme), theme.text), kind).toBeGreaterThan(4.5);
    }
    for (const change of [-100, -30, 0, 30, 100]) {
      expect(contrast(changeGround(change, 100, theme), theme.text)).toBeGreaterThan(4.5);
    }
  });

  it("tell growth from shrinking, and much from little", () => {
    const grounds = [-100, -10, 0, 10, 100].map((change) => changeGround(change, 100, theme));
    expect(new Set(grounds).size).toBe(5);
    expect(changeGround(5, 0, theme)).toBe(changeGround(0, 100, theme));
  });

  it("tell kernel, native code and each interpreter apart", () => {
    const common = ["kernel", "native", "go", "python", "java", "v8"];
    expect(new Set(common.map((kind) => kindGround(kind, theme))).size).toBe(common.length);
    expect(kindGround("kernel", theme)).toBe(plainGround(theme));
  });
});
