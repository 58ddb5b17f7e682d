/** Keyboard commands for the panels of a target or run, whatever page is around them. */

import { foldIdle, idleFolded } from "../base/idleFold";
import { type Command, focusSearch } from "../base/keyboard";
import { moveWindow } from "../chart/zoom";
import { compareBefore } from "../features/change/ChangePanel";
import { focusThread } from "../features/thread/ThreadDrawer";

/** Apply a command to the panels that are open; false if it is not about them. */
export function applyToPanels(command: Command): boolean {
  switch (command) {
    case "search":
      focusSearch();
      return true;
    case "idle":
      foldIdle(!idleFolded.get());
      return true;
    case "thread":
      focusThread();
      return true;
    case "window-earlier":
      moveWindow("earlier");
      return true;
    case "window-later":
      moveWindow("later");
      return true;
    case "window-shorter":
      moveWindow("shorter");
      return true;
    case "window-longer":
      moveWindow("longer");
      return true;
    case "window-back":
      moveWindow("back");
      return true;
    case "compare-before":
      compareBefore();
      return true;
    case "escape":
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      return true;
    default:
      return false;
  }
}
