import { useEffect, useRef } from "react";
import { type Command, KEYS_AT_REST, pressKey } from "./keyboard";
import { createStore } from "./store";

/** What the space bar does on a page of its own kind, such as playing a run; null: pause Live. */
export const spaceBar = createStore<(() => void) | null>(null);

const TYPING = "input:not([type=checkbox]):not([type=radio]), textarea, select";
/** What the space bar works; on a radio button that is chosen already, and on a link, it does nothing. */
const PRESSABLE = "button, summary, input:not([type=radio])";

/** Run commands as keys are pressed anywhere in the page. */
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

/** Put the focus into the page's search field, if it has one. */
export function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("[data-search]");
  field?.focus();
  field?.select();
}
