/** The ECharts option of a chart: axes and grid. Lines are not in it, see surface.ts. */

import { axisFormatter } from "../model/format";
import type { ShownUnit } from "../model/views";
import type { ChartTheme } from "./palette";
import { MARGIN } from "./plot";
import { Y_PARTS } from "./yRange";

/** What the axes depend on. */
export interface AxesInput {
  readonly t0_s: number;
  readonly t1_s: number;
  readonly attached_unix_ms: number;
  readonly y_top: number;
  readonly unit: ShownUnit;
  readonly theme: ChartTheme;
  /** Plot width, CSS pixels. */
  readonly width: number;
  /** Whether there are values: an axis without any shows no numbers. */
  readonly values: boolean;
}

/** Below this span ticks are less than a second apart. */
const SHORT_S = 3;

/** Clock time as the axis and the tooltip show it. */
export function clockText(unix_ms: number, milliseconds = false): string {
  const date = new Date(unix_ms);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return milliseconds ? `${text}.${String(date.getMilliseconds()).padStart(3, "0")}` : text;
}

/** Axes and grid with explicit ends and no animation; the plot's rectangle stands still. */
export function axesOption(input: AxesInput) {
  const { t0_s, t1_s, attached_unix_ms, y_top, unit, theme, width, values } = input;
  const label = { color: theme.muted, fontFamily: theme.font, fontSize: 11 };
  const milliseconds = t1_s - t0_s < SHORT_S;
  const tick = axisFormatter(unit, y_top, y_top / Y_PARTS);
  return {
    animation: false,
    backgroundColor: "transparent",
    grid: {
      left: MARGIN.left,
      right: MARGIN.right,
      top: MARGIN.top,
      bottom: MARGIN.bottom,
      outerBoundsMode: "none" as const,
    },
    xAxis: {
      type: "time" as const,
      min: attached_unix_ms + 1000 * t0_s,
      max: attached_unix_ms + 1000 * t1_s,
      splitNumber: Math.max(2, Math.floor(width / 110)),
      axisLine: { lineStyle: { color: theme.grid } },
      axisTick: { lineStyle: { color: theme.grid } },
      splitLine: { show: false },
      axisLabel: {
        ...label,
        showMinLabel: false,
        showMaxLabel: false,
        hideOverlap: true,
        formatter: (value: number) => clockText(value, milliseconds),
      },
    },
    yAxis: {
      type: "value" as const,
      min: 0,
      max: y_top,
      interval: y_top / Y_PARTS,
      axisLine: { show: false },
      axisTick: { show: false },
      splitLine: { lineStyle: { color: theme.grid, width: 1 } },
      axisLabel: { ...label, show: values, formatter: (value: number) => tick(value) },
    },
  };
}
