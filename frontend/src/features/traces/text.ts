/** Times of traces as text. */

import { formatValue } from "../../stream/format";

/** A length of time: "12.3 ms". */
export function timeText(ns: number): string {
  return formatValue(ns / 1e9, "s");
}

/** A change of it, with its sign: "+12.3 ms", "−4.00 µs", "±0". */
export function changeText(ns: number): string {
  if (Math.round(ns) === 0) return "±0";
  return `${ns > 0 ? "+" : "−"}${timeText(Math.abs(ns))}`;
}

/** The same before a name: growth and shrinking differ by more than their colour. */
export function changeSign(ns: number): string {
  if (Math.round(ns) === 0) return "";
  return `${ns > 0 ? "▲" : "▼"} ${changeText(ns)}`;
}

/** A share of a whole. */
export function shareText(share: number): string {
  return formatValue(share, "share");
}
