/** The tooltip of the thread map, in a box of tooltip.ts. */

import type { CellText } from "./mapText";
import type { ChartTheme } from "./palette";

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
  const value = row(words.value, theme.text);
  const notes = words.notes.map((note) => row(note, theme.muted));
  box.replaceChildren(head, thread, value, ...notes);
}

function row(text: string, colour: string): HTMLElement {
  const element = document.createElement("div");
  element.textContent = text;
  element.style.color = colour;
  return element;
}
