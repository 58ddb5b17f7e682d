/** Axes and grid: where the ticks are (pure), and how they are drawn. */

import { axisFormatter } from "../stream/format";
import type { ShownUnit } from "../stream/views";
import type { ChartTheme } from "./palette";
import type { Plot } from "./plot";
import { Y_PARTS } from "./yRange";

/** A tick and what it says. */
export interface Tick {
  /** CSS pixels: from the left edge of the element, or from its top. */
  readonly at: number;
  readonly text: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Distances between ticks of time, ms: what a clock's face is divided into. */
const TIME_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96].map((hours) => hours * HOUR),
];
/** Room that a label of time needs, with and without milliseconds. */
const TIME_PX = 60;
const LONG_TIME_PX = 84;
const TICK_PX = 5;
const GAP_PX = 8;

/** Clock time as the axis and the tooltip show it. */
export function clockText(unix_ms: number, milliseconds = false): string {
  const date = new Date(unix_ms);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return milliseconds ? `${text}.${String(date.getMilliseconds()).padStart(3, "0")}` : text;
}

/** Ticks at round times of the clock on the wall, as many as have room. */
export function timeTicks(plot: Plot, attached_unix_ms: number): readonly Tick[] {
  const { left, width, t0_s, t1_s } = plot;
  const from = attached_unix_ms + SECOND * t0_s;
  const to = attached_unix_ms + SECOND * t1_s;
  const per_px = (to - from) / width;
  const step =
    TIME_STEPS.find((ms) => ms >= per_px * (ms < SECOND ? LONG_TIME_PX : TIME_PX)) ??
    Math.ceil((per_px * TIME_PX) / (24 * HOUR)) * 24 * HOUR;
  // Hours of the clock on the wall are round in its own zone.
  const zone = -MINUTE * new Date(from).getTimezoneOffset();
  const ticks: Tick[] = [];
  const first = Math.ceil((from + zone) / step - 1e-9);
  for (let n = first; n * step - zone <= to + 1e-6; n++) {
    const unix_ms = n * step - zone;
    ticks.push({
      at: left + (unix_ms - from) / per_px,
      text: clockText(unix_ms, step < SECOND),
    });
  }
  return ticks;
}

/** Ticks of the values, from 0 up to the top in equal parts. */
export function valueTicks({ top, height, y_top }: Plot, unit: ShownUnit): readonly Tick[] {
  const text = axisFormatter(unit, y_top, y_top / Y_PARTS);
  return Array.from({ length: Y_PARTS + 1 }, (_, part) => ({
    at: top + height * (1 - part / Y_PARTS),
    text: text((part * y_top) / Y_PARTS),
  }));
}

/** Draw the time axis below a plot. */
export function drawTimeAxis(
  context: CanvasRenderingContext2D,
  plot: Plot,
  ticks: readonly Tick[],
  theme: ChartTheme,
): void {
  const { left, top, width, height } = plot;
  const foot = Math.round(top + height);
  context.fillStyle = theme.grid;
  context.fillRect(left, foot, width, 1);
  for (const { at } of ticks) context.fillRect(Math.round(at), foot, 1, TICK_PX);
  context.fillStyle = theme.muted;
  context.font = `11px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const { at, text } of ticks) context.fillText(text, at, foot + GAP_PX);
}

/** Draw the grid across a plot and the numbers at its left; without values no numbers. */
export function drawValueAxis(
  context: CanvasRenderingContext2D,
  plot: Plot,
  ticks: readonly Tick[],
  theme: ChartTheme,
  values: boolean,
): void {
  context.fillStyle = theme.grid;
  for (const { at } of ticks) context.fillRect(plot.left, Math.round(at), plot.width, 1);
  if (!values) return;
  context.fillStyle = theme.muted;
  context.font = `11px ${theme.font}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const { at, text } of ticks) context.fillText(text, plot.left - GAP_PX, at);
}
