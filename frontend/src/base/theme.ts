/** Light or dark theme: the system's, unless the user chose one; paper is light. */

import { printing } from "./printing";
import { createStore } from "./store";

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
