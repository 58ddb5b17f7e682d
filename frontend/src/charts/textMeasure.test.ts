import { describe, expect, it } from "vitest";
import { type TextContext, textMeasure } from "./textMeasure";

/** Contexts that are made, with the texts measured on each and how often its font was set. */
function contexts(): { made: { texts: string[]; fonts: string[] }[]; create: () => TextContext } {
  const made: { texts: string[]; fonts: string[] }[] = [];
  return {
    made,
    create: () => {
      const one = { texts: [] as string[], fonts: [] as string[] };
      made.push(one);
      return {
        set font(value: string) {
          one.fonts.push(value);
        },
        measureText: (text) => {
          one.texts.push(text);
          return { width: 6 * text.length };
        },
      };
    },
  };
}

describe("textMeasure", () => {
  it("measures as the context does, in the font that is asked for", () => {
    const { made, create } = contexts();
    const measure = textMeasure(create);
    expect(measure("four", "11px sans-serif").width).toBe(24);
    measure("five", "11px sans-serif");
    measure("six", "bold 11px sans-serif");
    measure("none");
    expect(made).toHaveLength(1);
    expect(made[0]?.fonts).toEqual(["11px sans-serif", "bold 11px sans-serif", "12px sans-serif"]);
  });

  it("never measures more than a thousand texts on one canvas", () => {
    const { made, create } = contexts();
    const measure = textMeasure(create);
    for (let n = 0; n < 2500; n++) measure(`07:${n}`, "11px sans-serif");
    expect(made.map((one) => one.texts.length)).toEqual([1000, 1000, 500]);
    expect(made.map((one) => one.fonts.length)).toEqual([1, 1, 1]);
  });

  it("estimates where there is no canvas", () => {
    expect(textMeasure(() => null)("abc").width).toBe(21);
  });
});
