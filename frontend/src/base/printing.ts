/** Whether the page is being printed. */

import { createStore } from "./store";

const paper = window.matchMedia("print");

/** True while printing: charts are redrawn in the colours and width of a sheet. */
export const printing = createStore(paper.matches);

const follow = (value: boolean): void => {
  // Layout switches to the sheet now, so that charts can be measured.
  document.documentElement.toggleAttribute("data-printing", value);
  printing.set(value);
};

paper.addEventListener("change", () => follow(paper.matches));
window.addEventListener("beforeprint", () => follow(true));
window.addEventListener("afterprint", () => follow(paper.matches));
