/** What stands left of the thread map: names of roles, bands of their colours, what the ticks mean. */

import { type ChartTheme, colourStyle } from "../../chart/palette";
import { shortenMiddle } from "../../stream/format";
import { type MapGroup, type MapLayout, threadsOf } from "../../stream/mapLayout";
import { type MapPlot, rowBox, STRIP_PX } from "./mapPlot";

/** Names of roles need so much height. */
const LABEL_PX = 13;
const BAND_PX = 4;
/** A row this high has a band of its own. */
const BANDED_PX = 6;

/** Draw names, as many as have room, and colours. */
export function drawMapNames(
  context: CanvasRenderingContext2D,
  layout: MapLayout,
  plot: MapPlot,
  theme: ChartTheme,
): void {
  for (const { row, rows, colour } of bandsOf(layout, plot)) {
    const { y, height } = rowBox(plot, row, rows);
    context.fillStyle = colourStyle(colour, theme).colour;
    context.fillRect(plot.left - BAND_PX - 3, y, BAND_PX, Math.max(1, height - 1));
  }
  const right = plot.left - BAND_PX - 8;
  context.fillStyle = theme.muted;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.font = `10px ${theme.font}`;
  const turnover = plot.left > 100 ? "born ▴  exited ▾" : "born/exit";
  context.fillText(turnover, right, plot.top - STRIP_PX / 2 - 1);
  context.font = `11px ${theme.font}`;
  const room = plot.left - BAND_PX - 12;
  // Below the name of the strip of births and exits.
  let below = plot.top - STRIP_PX / 2 + 4;
  for (const group of layout.groups) {
    const { y, height } = rowBox(plot, group.row, group.rows);
    const middle = y + height / 2;
    if (middle - LABEL_PX / 2 < below) continue;
    below = middle + LABEL_PX / 2;
    const count = group.threads > 1 ? `×${group.threads}` : "";
    const sign = foldSign(group);
    if (height >= 2 * LABEL_PX && plot.left < 100) {
      const name = fitted(context, [sign, group.role, ""], room);
      context.fillText(name, right, middle - LABEL_PX / 2);
      context.fillText(count, right, middle + LABEL_PX / 2);
    } else {
      const after = count === "" ? "" : ` ${count}`;
      context.fillText(fitted(context, [sign, group.role, after], room), right, middle);
    }
  }
}

/** Whether a press on the name folds it or unfolds it. */
function foldSign({ fold, heading }: MapGroup): string {
  if (heading) return "▾ ";
  return fold === null ? "" : "▸ ";
}

/** A name with what stands around it, in a width: its middle is cut, for names often differ at the end. */
function fitted(
  context: CanvasRenderingContext2D,
  [before, name, after]: readonly [string, string, string],
  width: number,
): string {
  for (let letters = name.length; letters > 3; letters--) {
    const text = `${before}${shortenMiddle(name, letters)}${after}`;
    if (context.measureText(text).width <= width) return text;
  }
  return `${before}${shortenMiddle(name, 3)}${after}`;
}

/** A stretch of rows of one colour. */
type Band = Pick<MapGroup, "row" | "rows" | "colour">;

/** Bands left of the rows: that of a thread's colour where a row is its own and high enough, else the role's. */
function bandsOf(layout: MapLayout, plot: MapPlot): readonly Band[] {
  const { groups, rows, first, colours, per_row } = layout;
  if (per_row > 1 || rows === 0 || rowBox(plot, 0).height < BANDED_PX) return groups;
  return groups.flatMap((group) =>
    Array.from({ length: group.rows }, (_, at) => {
      const row = group.row + at;
      const own = threadsOf(layout, row) === 1 ? colours[first[row] ?? 0] : undefined;
      return { row, rows: 1, colour: own ?? group.colour };
    }),
  );
}
