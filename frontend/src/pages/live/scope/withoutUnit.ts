/** A formatted value without the unit that stands in a heading; prefixes and % stay. */
export function withoutUnit(text: string): string {
  return text.replace(/( cores| s| W)$/, "").replace(/ ?\/s$/, "");
}
