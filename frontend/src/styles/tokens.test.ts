import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** Minimum contrast of text of this size (WCAG 2.2, 1.4.3). */
const TEXT = 4.5;
/** Minimum contrast of control frames (WCAG 2.2, 1.4.11). */
const FRAME = 3;

const source = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");
const blocks = source.split(':root[data-theme="dark"]');
const THEMES = { light: tokensIn(blocks[0] ?? ""), dark: tokensIn(blocks[1] ?? "") };

function tokensIn(css: string): ReadonlyMap<string, string> {
  return new Map(
    [...css.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map((m) => [m[1] ?? "", m[2] ?? ""]),
  );
}

/** Relative luminance of #rrggbb (WCAG 2.2, definitions). */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ["ground", "panel", "raised", "inset", "hover"];
const PAIRS: readonly (readonly [string, readonly string[], number])[] = [
  ["text", [...GROUNDS, "accent-soft", "ok-soft", "warning-soft", "error-soft"], TEXT],
  ["muted", [...GROUNDS, "accent-soft"], TEXT],
  ["accent", GROUNDS, TEXT],
  ["accent-text", ["accent"], TEXT],
  ["ok", [...GROUNDS, "ok-soft"], TEXT],
  ["warning", [...GROUNDS, "warning-soft"], TEXT],
  ["error", [...GROUNDS, "error-soft"], TEXT],
  ["line-strong", ["panel", "raised", "inset", "ground"], FRAME],
];

describe.each(Object.entries(THEMES))("%s theme", (_theme, tokens) => {
  const cases = PAIRS.flatMap(([over, grounds, least]) =>
    grounds.map((ground) => [over, ground, least] as const),
  );
  it.each(cases)("%s on %s has a contrast of at least %d", (over, ground, least) => {
    const a = tokens.get(over);
    const b = tokens.get(ground);
    expect([over, a]).not.toContain(undefined);
    expect([ground, b]).not.toContain(undefined);
    expect(contrast(a ?? "", b ?? "")).toBeGreaterThanOrEqual(least);
  });
});

it("knows black on white", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
});
