/** Whether the page is put on paper. */

import { createStore } from "./store";

const paper = window.matchMedia("print");

/** Charts on it are drawn again in the colours and the width of a sheet before it is printed. */
export const printing = createStore(paper.matches);

const follow = (value: boolean): void => {
  // Layout is that of the sheet from now on, so that charts can be measured.
  document.documentElement.toggleAttribute("data-printing", value);
  printing.set(value);
};

paper.addEventListener("change", () => follow(paper.matches));
window.addEventListener("beforeprint", () => follow(true));
window.addEventListener("afterprint", () => follow(paper.matches));
