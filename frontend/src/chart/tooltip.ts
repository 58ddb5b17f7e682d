/** The tooltip as DOM elements. React is bypassed: the tooltip changes with the pointer. */

import { formatValue } from "../stream/format";
import type { ChartId } from "../stream/viewRequest";
import type { ChartView } from "../stream/views";
import { clockText } from "./axes";
import { lineName } from "./describe";
import { markerSvg } from "./markerPath";
import type { ChartTheme } from "./palette";
import { lineStyle } from "./palette";
import type { Tooltip } from "./pointing";

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
