import type { HostsLink } from "./link";

/** Props of the page's parts: the state, and the callback for changes. */
export interface PartProps {
  readonly link: HostsLink;
  /** Change a part of the state; "replace" adds no history entry. */
  readonly onLink: (part: Partial<HostsLink>, how?: "push" | "replace") => void;
}
