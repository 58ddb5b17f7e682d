/** Attributes of a scrollable element without focusable content, so that keys can scroll it. */
export function scrollable(label: string) {
  return { role: "region", tabIndex: 0, "aria-label": label } as const;
}
