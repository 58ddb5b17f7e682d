/** Axes and grid: tick positions (pure), and drawing. */

import { axisFormatter } from "../stream/format";
import type { ShownUnit } from "../stream/views";
import type { ChartTheme } from "./palette";
import type { Plot } from "./plot";

export interface Tick {
  /** CSS pixels from the element's left edge, or from its top. */
  readonly at: number;
  readonly text: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Distances between time ticks, in ms: the divisions of a clock face. */
const TIME_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96].map((hours) => hours * HOUR),
];
/** Width of a time label, with and without milliseconds. */
const TIME_PX = 60;
const LONG_TIME_PX = 84;
const TICK_PX = 5;
const GAP_PX = 8;

/** Clock time as shown by the axis and the tooltip. */
export function clockText(unix_ms: number, milliseconds = false): string {
  const date = new Date(unix_ms);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return milliseconds ? `${text}.${String(date.getMilliseconds()).padStart(3, "0")}` : text;
}

/** Time ticks at round local times, as many as fit. */
export function timeTicks(plot: Plot, attached_unix_ms: number): readonly Tick[] {
  const { left, width, t0_s, t1_s } = plot;
  const from = attached_unix_ms + SECOND * t0_s;
  const to = attached_unix_ms + SECOND * t1_s;
  const per_px = (to - from) / width;
  const step =
    TIME_STEPS.find((ms) => ms >= per_px * (ms < SECOND ? LONG_TIME_PX : TIME_PX)) ??
    Math.ceil((per_px * TIME_PX) / (24 * HOUR)) * 24 * HOUR;
  // Hours are round in the local time zone.
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

/** Value ticks, from 0 to the top in equal parts. */
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

/** Draw the grid across a plot and the numbers at its left; no numbers if there are no values. */
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

/** Parts of the value axis between grid lines. */
export const Y_PARTS = 4;

const SHRINK_BELOW = 0.4;
const SHRINK_AFTER_MS = 3000;
/** Minimum top of an axis, so that small values do not look large. */
const MIN_TOP: Readonly<Record<ShownUnit, number>> = {
  W: 1,
  J: 1,
  cores: 0.01,
  threads: 1,
  s: 0.01,
  ms: 1,
  share: 0.01,
  bytes: 4096,
  "bytes/s": 4096,
  "1/s": 4,
  count: 4,
};

/** Smallest round value ≥ `max` that divides into four round parts. */
export function niceTop(max: number, unit: ShownUnit): number {
  const wanted = Math.max(max, MIN_TOP[unit]);
  const base = unit === "bytes" || unit === "bytes/s" ? 1024 : 1000;
  let power = base === 1024 ? 1 : 10 ** Math.floor(Math.log10(wanted));
  if (base === 1024) {
    while (power * 1024 <= wanted) power *= 1024;
    for (const step of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]) {
      if (step * power >= wanted) return step * power;
    }
  }
  const steps = unit === "count" ? [1, 2, 4, 8, 10] : [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10];
  for (const step of steps) {
    // 0.1 * 3 is slightly above 0.3: remove rounding errors of doubles.
    const top = Number((step * power).toPrecision(12));
    if (top >= wanted) return top;
  }
  power *= 10;
  return power;
}

/** The axis in effect, and the time since which it has been too large. */
export interface YRange {
  readonly top: number;
  readonly loose_since_ms: number | null;
}

/** A time span, in seconds since attach. */
interface Span {
  readonly t0_s: number;
  readonly t1_s: number;
}

/**
 * Whether a view continues the previous one. Only a continuing view shrinks its axis slowly. A
 * fixed view, or one of another length, gets its own axis at once.
 */
export function follows(before: Span | null, now: Span): boolean {
  if (!before || now.t0_s <= before.t0_s) return false;
  return Math.abs(now.t1_s - now.t0_s - (before.t1_s - before.t0_s)) < 1e-6;
}

/**
 * The next range: grows at once, shrinks after the data has stayed below two fifths of the range
 * for three seconds.
 * @param max Largest value shown.
 * @param clock_ms A monotonic clock.
 */
export function nextRange(
  before: YRange | null,
  max: number,
  unit: ShownUnit,
  clock_ms: number,
): YRange {
  if (!before || max > before.top) return { top: niceTop(max, unit), loose_since_ms: null };
  const smaller = niceTop(max, unit);
  if (max > SHRINK_BELOW * before.top || smaller >= before.top) {
    return before.loose_since_ms === null ? before : { ...before, loose_since_ms: null };
  }
  if (before.loose_since_ms === null) return { ...before, loose_since_ms: clock_ms };
  if (clock_ms - before.loose_since_ms < SHRINK_AFTER_MS) return before;
  return { top: smaller, loose_since_ms: null };
}
