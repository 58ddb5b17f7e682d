/** Choices of the time range. */

import { formatDuration } from "../../stream/format";
import type { TimeWindow } from "../../stream/viewRequest";

/** A choice by its value; "zoomed" is not selectable. */
export type WindowChoice = "30" | "60" | "300" | "all" | "zoomed";

export const WINDOWS: readonly { readonly value: WindowChoice; readonly label: string }[] = [
  { value: "30", label: "30 s" },
  { value: "60", label: "1 min" },
  { value: "300", label: "5 min" },
  { value: "all", label: "All" },
];

/** Lengths of "all" in seconds: it grows in steps, so that the axis does not crawl. */
const STEPS = [30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400] as const;

/** The live window of a choice, given the retained past. */
export function windowFor(choice: WindowChoice, kept_s: number): TimeWindow {
  if (choice === "all" || choice === "zoomed") {
    return { kind: "last", seconds: STEPS.find((step) => step >= kept_s) ?? Math.ceil(kept_s) };
  }
  return { kind: "last", seconds: Number(choice) };
}

export function zoomWords(window: Extract<TimeWindow, { kind: "fixed" }>): string {
  return formatDuration(window.t1_s - window.t0_s);
}
