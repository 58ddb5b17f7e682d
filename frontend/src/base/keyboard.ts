/** Keyboard shortcuts. */

import { useEffect, useRef } from "react";
import { createStore } from "./store";

export type Command =
  | "search"
  | "pause"
  | "steer"
  | "idle"
  | "thread"
  | "window-earlier"
  | "window-later"
  | "window-shorter"
  | "window-longer"
  | "window-back"
  | "compare-before"
  | "go-live"
  | "go-hosts"
  | "go-runs"
  | "go-compare"
  | "go-experiments"
  | "go-traces"
  | "go-doctor"
  | "help"
  | "escape";

/** A key press and its context. */
export interface KeyPress {
  readonly key: string;
  /** Control, Alt or Meta was down. */
  readonly modified: boolean;
  /** The focus is where text is typed. */
  readonly typing: boolean;
  /** The focus is on an element that handles the space bar itself, such as a button. */
  readonly pressable: boolean;
  readonly time_ms: number;
}

/** When "g" was pressed, if the sequence is still pending. */
export interface KeyState {
  readonly going_since_ms: number | null;
}

export const KEYS_AT_REST: KeyState = { going_since_ms: null };

/** Time within which a key sequence must be finished. */
const SEQUENCE_MS = 1500;

const PLACES: Readonly<Record<string, Command>> = {
  l: "go-live",
  h: "go-hosts",
  r: "go-runs",
  c: "go-compare",
  e: "go-experiments",
  t: "go-traces",
  d: "go-doctor",
};

/** Single-key shortcuts. */
const SINGLE: Readonly<Record<string, Command>> = {
  "/": "search",
  s: "steer",
  t: "thread",
  i: "idle",
  "?": "help",
  "[": "window-earlier",
  "]": "window-later",
  "+": "window-shorter",
  "=": "window-shorter",
  "-": "window-longer",
  "0": "window-back",
  b: "compare-before",
};

/** Shortcuts listed in the help overlay. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["/"], "Search"],
  [["Space"], "Pause or resume the view; sampling continues. In a run: play or stop"],
  [["s"], "Open or close the Steer drawer"],
  [["i"], "Where the time goes: fold idle time away, or show it"],
  [["[", "]"], "Move the time window to earlier or later"],
  [["+", "−"], "Make the time window shorter or longer"],
  [["0"], "Go back to the live window, or to the whole run"],
  [["b"], "Compare the window with the time before it"],
  [["t"], "Go to the panel of the selected thread; Esc closes it"],
  [["g", "l"], "Go to Live"],
  [["g", "h"], "Go to Hosts"],
  [["g", "r"], "Go to Runs"],
  [["g", "c"], "Go to Compare"],
  [["g", "e"], "Go to Experiments"],
  [["g", "t"], "Go to Traces"],
  [["g", "d"], "Go to Doctor"],
  [["↑", "↓"], "Move between rows"],
  [["→", "←"], "In rows that unfold: open or close one, or go to the one above"],
  [["Home", "End"], "First or last row"],
  [["Enter"], "Attach to the process, open the run, or select the thread"],
  [["Shift", "Enter"], "Attach to the process and its descendants"],
  [["←", "→", "↑", "↓"], "Move the cursor in the thread map"],
  [["←", "→", "↑", "↓"], "In a flame graph: along the line, to the caller, to the widest call"],
  [["Enter", "Esc"], "In a flame graph: zoom to the call, or back to its caller"],
  [["←", "→", "↑", "↓"], "On the wall of hosts: move; Enter opens the host or the group"],
  [["f"], "In the thread map of a group: fold or unfold the process"],
  [["←", "→", "+", "−"], "On the scrub bar of a run: move the window, make it shorter or longer"],
  [["x"], "Select the focused run for comparison"],
  [["p"], "Pin the thread of the focused row"],
  [["e"], "Rename or merge the role of the focused row"],
  [["?"], "Show this help"],
  [["Esc"], "Close a dialog, or leave the search field"],
];

/** Handle one key: return the next state and the command, if any. */
export function pressKey(
  state: KeyState,
  press: KeyPress,
): { readonly state: KeyState; readonly command: Command | null } {
  const done = (command: Command | null) => ({ state: KEYS_AT_REST, command });
  if (press.modified) {
    return done(null);
  }
  if (press.key === "Escape") {
    return done("escape");
  }
  if (press.typing) {
    return done(null);
  }
  const since = state.going_since_ms;
  if (since !== null && press.time_ms - since <= SEQUENCE_MS) {
    return done(PLACES[press.key] ?? null);
  }
  switch (press.key) {
    case "g":
      return { state: { going_since_ms: press.time_ms }, command: null };
    case " ":
      return done(press.pressable ? null : "pause");
    default:
      return done(SINGLE[press.key] ?? null);
  }
}

/** Row that a key moves to in a list of `count` rows, or null if the key does not move. */
export function moveInRows(key: string, index: number, count: number, page: number): number | null {
  if (count === 0) {
    return null;
  }
  const to = (wanted: number) => Math.min(Math.max(wanted, 0), count - 1);
  switch (key) {
    case "ArrowDown":
      return to(index + 1);
    case "ArrowUp":
      return to(index - 1);
    case "PageDown":
      return to(index + page);
    case "PageUp":
      return to(index - page);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}

/** Handler of the space bar on the current page, such as playing a run; null: pause Live. */
export const spaceBar = createStore<(() => void) | null>(null);

const TYPING = "input:not([type=checkbox]):not([type=radio]), textarea, select";
/** Elements that handle the space bar. A chosen radio button and a link ignore the space bar. */
const PRESSABLE = "button, summary, input:not([type=radio])";

/** Run commands for keys pressed anywhere in the page. */
export function useKeyboard(run: (command: Command) => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    let state = KEYS_AT_REST;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.key === "Shift") {
        return;
      }
      const at = event.target instanceof Element ? event.target : document.body;
      const next = pressKey(state, {
        key: event.key,
        modified: event.ctrlKey || event.altKey || event.metaKey,
        typing: at.matches(TYPING),
        pressable: at.matches(PRESSABLE),
        time_ms: event.timeStamp,
      });
      state = next.state;
      if (next.command !== null) {
        if (next.command !== "escape") {
          event.preventDefault();
        }
        latest.current(next.command);
      }
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** Focus the search field of the focused panel, or the page's first one, if any. */
export function focusSearch(): void {
  const panel = document.activeElement?.closest("[data-panel]");
  const field =
    panel?.querySelector<HTMLInputElement>("[data-search]") ??
    document.querySelector<HTMLInputElement>("[data-search]");
  field?.focus();
  field?.select();
}
