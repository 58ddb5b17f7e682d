/**
 * The tooltip as DOM elements. React is bypassed: the tooltip changes with the pointer. Data under
 * the pointer: the column, the nearest line, the rows of the tooltip.
 */

import { formatDuration, formatValue } from "../stream/format";
import type { ChartId } from "../stream/viewRequest";
import type { ChartView, LineView } from "../stream/views";
import { clockText } from "./axes";
import { lineName } from "./describe";
import { markerSvg } from "./Marker";
import { type ChartTheme, lineStyle } from "./palette";
import { firstFrom, type Plot, timeAt, xOf, yOf } from "./plot";

/** Maximum distance for pointing at a line, in pixels. */
const NEAR_PX = 24;
const MAX_ROWS = 12;

/** Column with the nearest time; -1 if none. */
export function columnAt(view: ChartView, t_s: number): number {
  const { columns, time_s } = view;
  if (columns === 0) return -1;
  const low = Math.min(firstFrom(view, t_s), columns - 1);
  // A step holds from its own time on: the previous one is in effect.
  if (view.step) return (time_s[low] ?? 0) > t_s && low > 0 ? low - 1 : low;
  const before = low - 1;
  if (before < 0) return low;
  return t_s - (time_s[before] ?? 0) <= (time_s[low] ?? 0) - t_s ? before : low;
}

/** The nearest line to a pixel within reach; -1 if none. */
export function nearestLine(view: ChartView, plot: Plot, x: number, y: number): number {
  const column = columnAt(view, timeAt(plot, x));
  if (column < 0 || Math.abs(xOf(plot, view.time_s[column] ?? 0) - x) > 2 * NEAR_PX) return -1;
  let nearest = -1;
  let least = NEAR_PX;
  for (let line = 0; line < view.lines.length; line++) {
    const low = view.low[line * view.columns + column] ?? Number.NaN;
    const high = view.high[line * view.columns + column] ?? Number.NaN;
    if (Number.isNaN(low)) continue;
    const above = yOf(plot, high) - y;
    const below = y - yOf(plot, low);
    const distance = Math.max(0, above, below);
    if (distance < least || (distance === least && nearest < 0)) {
      least = distance;
      nearest = line;
    }
  }
  return nearest;
}

interface TooltipRow {
  readonly line: LineView;
  readonly value: number;
  /** Greatest value in between; "" if each sample is shown. */
  readonly peak: string;
}

interface Tooltip {
  readonly t_s: number;
  readonly rows: readonly TooltipRow[];
  /** Number of lines with a value that did not fit. */
  readonly more: number;
}

/** Values of all lines at a moment, largest first; null if none. */
export function tooltipAt(view: ChartView, t_s: number): Tooltip | null {
  const column = columnAt(view, t_s);
  if (column < 0) return null;
  const rows: TooltipRow[] = [];
  view.lines.forEach((line, index) => {
    const top = view.high[index * view.columns + column] ?? Number.NaN;
    // A band's value is its height.
    const foot = view.times || view.stacked ? (view.low[index * view.columns + column] ?? 0) : 0;
    const value = top - foot;
    const peak = peakText(view, index, column);
    if (!Number.isNaN(value)) rows.push({ line, value, peak });
  });
  if (rows.length === 0) return null;
  // Stacked bands are listed in stacking order.
  if (view.stacked) rows.reverse();
  else rows.sort((a, b) => b.value - a.value);
  const shown = rows.slice(0, MAX_ROWS);
  const at = view.step ? t_s : (view.time_s[column] ?? t_s);
  return { t_s: at, rows: shown, more: rows.length - shown.length };
}

const OPACITY = 0.16;

/** Draw the bands of some lines; each spans from the previous column to its own. */
export function drawPeaks(
  context: Pick<CanvasRenderingContext2D, "fillRect" | "fillStyle" | "globalAlpha">,
  view: ChartView,
  plot: Plot,
  theme: ChartTheme,
  shown: (line: LineView) => boolean,
): void {
  const { peaks, columns, time_s, lines } = view;
  if (!peaks) return;
  context.globalAlpha = OPACITY;
  lines.forEach((line, index) => {
    if (!shown(line)) return;
    context.fillStyle = lineStyle(line, view.chart, theme).colour;
    for (let c = 1; c < columns; c++) {
      const top = peaks.high[index * columns + c] ?? Number.NaN;
      const foot = peaks.low[index * columns + c] ?? Number.NaN;
      if (!(top > foot)) continue;
      const x = xOf(plot, time_s[c - 1] ?? 0);
      const y = yOf(plot, top);
      context.fillRect(x, y, xOf(plot, time_s[c] ?? 0) - x, yOf(plot, foot) - y);
    }
  });
  context.globalAlpha = 1;
}

/** Peak of a line at a column, as shown in the tooltip; "" if unknown. */
export function peakText(view: ChartView, line: number, column: number): string {
  const value = view.peaks?.high[line * view.columns + column] ?? Number.NaN;
  if (Number.isNaN(value)) return "";
  const least = view.lines[line]?.kind === "others" ? "at least " : "";
  return `up to ${least}${formatValue(value, view.unit)}`;
}

/** Description of these rates; null if the view has none. */
export function peaksNote({ peaks }: ChartView): string | null {
  if (!peaks) return null;
  return `“up to”: greatest rate over ${peaks.over_s} s, within ${formatDuration(peaks.within_s)}`;
}

const SVG = "http://www.w3.org/2000/svg";

/** Create the (hidden) box in the chart's container, which must be positioned. */
export function tooltipIn(container: HTMLElement): HTMLElement {
  // At its old position the box, even hidden, would widen a page that has become narrower.
  container.style.overflowX = "clip";
  const box = document.createElement("div");
  box.className = "chart-tooltip";
  box.setAttribute("aria-hidden", "true");
  Object.assign(box.style, {
    position: "absolute",
    top: "0",
    left: "0",
    pointerEvents: "none",
    visibility: "hidden",
    zIndex: "5",
    padding: "6px 8px",
    borderRadius: "4px",
    fontSize: "12px",
    lineHeight: "1.4",
    whiteSpace: "nowrap",
    fontVariantNumeric: "tabular-nums",
  });
  container.append(box);
  return box;
}

/** Fill the box. */
export function fillTooltip(
  box: HTMLElement,
  tooltip: Tooltip & { readonly note: string | null },
  view: ChartView,
  chart: ChartId,
  theme: ChartTheme,
  key: string | null,
): void {
  Object.assign(box.style, {
    background: theme.background,
    color: theme.text,
    border: `1px solid ${theme.grid}`,
    fontFamily: theme.font,
  });
  const head = document.createElement("div");
  head.textContent = clockText(view.attached_unix_ms + 1000 * tooltip.t_s, true);
  head.style.color = theme.muted;
  const rows = tooltip.rows.map(({ line, value, peak }) => {
    const row = document.createElement("div");
    Object.assign(row.style, { display: "flex", gap: "8px", alignItems: "center" });
    if (line.key !== null && (line.key === key || line.selected)) row.style.fontWeight = "600";
    const name = document.createElement("span");
    name.textContent = lineName(line);
    Object.assign(name.style, { flex: "1", overflow: "hidden", textOverflow: "ellipsis" });
    name.style.maxWidth = "220px";
    const number = document.createElement("span");
    number.textContent = [formatValue(value, view.unit), peak].join(" ").trimEnd();
    const style = lineStyle(line, chart, theme);
    row.append(sample(style.colour, style.dash, style.marker), name, number);
    return row;
  });
  box.replaceChildren(head, ...rows);
  if (tooltip.more > 0) {
    const more = document.createElement("div");
    more.textContent = `and ${tooltip.more} more`;
    more.style.color = theme.muted;
    box.append(more);
  }
  if (tooltip.note !== null) {
    const note = document.createElement("div");
    note.textContent = tooltip.note;
    Object.assign(note.style, { maxWidth: "280px", whiteSpace: "normal", marginTop: "4px" });
    box.append(note);
  }
}

/** Place the box beside the pointer, on the side with room. */
export function placeTooltip(box: HTMLElement, x: number, width: number): void {
  const own = box.offsetWidth;
  const right = x + 14 + own <= width;
  const left = right ? x + 14 : Math.max(0, x - 14 - own);
  box.style.transform = `translate(${Math.round(left)}px, 4px)`;
  box.style.visibility = "visible";
}

function sample(
  colour: string,
  dash: readonly number[],
  marker: Parameters<typeof markerSvg>[0],
): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", "22");
  svg.setAttribute("height", "10");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", "M0,5H22");
  line.setAttribute("stroke", colour);
  line.setAttribute("stroke-width", "1.5");
  line.setAttribute("stroke-dasharray", dash.join(" "));
  const end = document.createElementNS(SVG, "path");
  end.setAttribute("d", markerSvg(marker, 11, 5));
  end.setAttribute("fill", colour);
  svg.append(line, end);
  return svg;
}
