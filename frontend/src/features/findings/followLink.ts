import type { LiveClient } from "../../stream/client";
import type { FindingLink } from "../../stream/findings/finding";

/** Show what a finding is about: its panel, with what it names selected. */
export function followLink(client: LiveClient, link: FindingLink): void {
  switch (link.panel) {
    case "locks":
      client.request({ open_lock: link.lock });
      break;
    case "wakes":
    case "times":
      client.request({ selected: link.key });
      break;
    case "takers":
      break;
  }
  const panel = document.querySelector<HTMLElement>(`[data-panel="${link.panel}"]`);
  if (panel === null) {
    return;
  }
  panel.tabIndex = -1;
  panel.scrollIntoView?.({ block: "start" });
  panel.focus({ preventScroll: true });
}
