/** The tooltip of the thread map, in a box of tooltip.ts. */

import type { ChartTheme } from "../../chart/palette";
import { groupColours, groupNumbered } from "../../chart/stateColours";
import { cellStateName, type StateShare } from "../../stream/stateCells";
import { type CellText, shareText } from "./mapText";

/** Fill the box with what a cell says. */
export function fillMapTooltip(box: HTMLElement, words: CellText, theme: ChartTheme): void {
  Object.assign(box.style, {
    background: theme.background,
    color: theme.text,
    border: `1px solid ${theme.grid}`,
    fontFamily: theme.font,
  });
  const head = row(words.time, theme.muted);
  const thread = row(words.thread, theme.text);
  thread.style.fontWeight = "600";
  const values =
    words.shares.length > 0
      ? words.shares.map((share) => shareRow(share, theme))
      : [row(words.value, theme.text)];
  const notes = words.notes.map((note) => row(note, theme.muted));
  box.replaceChildren(head, thread, ...values, ...notes);
}

function row(text: string, colour: string): HTMLElement {
  const element = document.createElement("div");
  element.textContent = text;
  element.style.color = colour;
  return element;
}

function shareRow({ number, share }: StateShare, theme: ChartTheme): HTMLElement {
  const element = row("", theme.text);
  Object.assign(element.style, { display: "flex", alignItems: "center", gap: "6px" });
  const swatch = document.createElement("span");
  const group = groupNumbered(number);
  Object.assign(swatch.style, {
    width: "10px",
    height: "10px",
    flex: "none",
    background: group === null ? "none" : groupColours(theme.dark)[group],
  });
  const name = document.createElement("span");
  name.textContent = cellStateName(number);
  const percent = document.createElement("span");
  percent.textContent = shareText(share);
  Object.assign(percent.style, { marginLeft: "auto", fontVariantNumeric: "tabular-nums" });
  element.append(swatch, name, percent);
  return element;
}
