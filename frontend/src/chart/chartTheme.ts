import type { Theme } from "../base/theme";
import type { ChartTheme } from "./palette";
import { DARK_CHART_THEME, LIGHT_CHART_THEME } from "./palette";

/** The charts' own colours on the grounds and lines of styles/tokens.css. */
export const CHART_THEMES: Readonly<Record<Theme, ChartTheme>> = {
  light: {
    ...LIGHT_CHART_THEME,
    text: "#14191b",
    muted: "#566266",
    grid: "#e3e8e9",
    background: "#ffffff",
    crosshair: "#7d898d",
  },
  dark: {
    ...DARK_CHART_THEME,
    text: "#d8dfe1",
    muted: "#8d9ba0",
    grid: "#1d2427",
    background: "#0f1213",
    crosshair: "#66747a",
  },
};
