/** Counts of stacks by outcome, and the way in which they are taken, in words. Pure. */

import { formatNumber, grouped } from "../../stream/format";
import type { StackCounts, StackSampling } from "../../wire/generated/models";

/** Losses in words, for all targets of the host; "" if there are none. */
export function countsText(counts: StackCounts): string {
  const lost = (
    [
      [
        counts.without_stack,
        "had no stack (the unwinder did not know the process yet, or gave up)",
      ],
      [counts.beyond_limit, "were beyond the limit a second"],
      [counts.no_room, "found no room in a buffer"],
      [counts.beyond_bound, "were cut short at the bound of functions"],
      [counts.unasked, "fitted no sample"],
    ] as const
  ).filter(([count]) => count > 0);
  if (lost.length === 0) return "";
  const parts = lost.map(([count, what]) => `${grouped(count)} ${what}`);
  return `Of the stacks of all targets of this host meanwhile, ${grouped(counts.taken)} were taken; ${parts.join(", ")}.`;
}

const TRIGGERS: Readonly<Record<StackSampling["trigger"], string>> = {
  tracepoint: "at waits, at a tracepoint",
  watchpoint: "at waits, by a watchpoint",
  context_switches: "at waits, in short periods of all context switches",
  none: "not at waits",
};

/** How stacks are taken: "Taking stacks at waits, at a tracepoint, and of each CPU at 49 Hz." */
export function samplingText({ until_unix_us, trigger, cpu_hz }: StackSampling): string {
  const cpus =
    cpu_hz > 0 ? `and of each CPU at ${formatNumber(cpu_hz, "count")} Hz` : "and not of CPUs";
  if (until_unix_us === null) return "No stacks are being taken.";
  if (trigger === "none" && cpu_hz === 0) return "Stacks are requested, but none are taken yet.";
  return `Taking stacks ${TRIGGERS[trigger]}, ${cpus}.`;
}
