/** What an element needs that scrolls and holds nothing that takes the focus: keys scroll it then. */
export function scrollable(label: string) {
  return { role: "region", tabIndex: 0, "aria-label": label } as const;
}
