/**
 * How wide a text is, for ECharts. Its own measure keeps one canvas for good and paints nothing on
 * it. A browser purges the texts that it has shaped for a canvas when that is painted: of this one
 * Chromium keeps 32,768, about 1 KB each, and time labels are new ones for hours.
 */

import { setPlatformAPI } from "echarts/core";

/** Texts measured on one canvas; the next one has none. */
const TEXTS_A_CANVAS = 1000;
/** Where there are no canvases (tests): pixels a character. */
const ABOUT_PX = 7;

/** What is used of a canvas' context. */
export interface TextContext {
  font: string;
  measureText(text: string): { width: number };
}

/** A measure whose contexts are left to the garbage collector before browsers keep much for them. */
export function textMeasure(
  createContext: () => TextContext | null,
): (text: string, font?: string) => { width: number } {
  let context: TextContext | null = null;
  let measured = 0;
  let current = "";
  return (text, font = "12px sans-serif") => {
    if (context === null || measured >= TEXTS_A_CANVAS) {
      context = createContext();
      measured = 0;
      current = "";
    }
    if (context === null) return { width: ABOUT_PX * text.length };
    // The browser parses a font that is set, even if it is the same.
    if (font !== current) {
      context.font = font;
      current = font;
    }
    measured++;
    return context.measureText(text);
  };
}

setPlatformAPI({
  measureText: textMeasure(() => document.createElement("canvas").getContext("2d")),
});
