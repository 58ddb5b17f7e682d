/**
 * Light or dark theme: the system's, unless the user chose one; paper is light. Whether the page is
 * being printed.
 */

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

export const THEME_CHOICES = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];
export type Theme = "light" | "dark";

const KEY = "tidscope.theme";
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
/**
 * Forced colours replace backgrounds with the system's: charts must contrast with the system's
 * colours.
 */
const forcedColours = window.matchMedia("(forced-colors: active)");

export const themeChoice = createStore<ThemeChoice>(kept());
export const theme = createStore<Theme>(inForce());

/** Choose, remember, and follow the choice. */
export function chooseTheme(choice: ThemeChoice): void {
  window.localStorage.setItem(KEY, choice);
  themeChoice.set(choice);
  apply();
}

/** Put the theme in effect on the document. */
export function apply(): void {
  theme.set(inForce());
  document.documentElement.dataset.theme = theme.get();
}

systemIsDark.addEventListener("change", apply);
forcedColours.addEventListener("change", apply);
printing.subscribe(apply);

function inForce(): Theme {
  if (printing.get()) {
    return "light";
  }
  const choice = themeChoice.get();
  if (choice === "system" || forcedColours.matches) {
    return systemIsDark.matches ? "dark" : "light";
  }
  return choice;
}

function kept(): ThemeChoice {
  const text = window.localStorage.getItem(KEY);
  return THEME_CHOICES.find((choice) => choice === text) ?? "system";
}
