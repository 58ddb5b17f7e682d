/** Thread activity during a span, in words. Pure. */

import { formatPercent } from "../../stream/format";
import { GROUP_NAMES } from "../../stream/states";
import type { SpanPart, SpanThread } from "../../wire/generated/models";

const NAMES: Readonly<Record<string, string>> = { ...GROUP_NAMES, unknown: "Not measured" };

const GUESS =
  " That the request waited inside the program is known; that it was for a lock is a guess, by how much threads of the process waited for locks around that time.";

/** Name of a reason. */
export function partName(reason: string): string {
  return NAMES[reason] ?? reason;
}

/**
 * Whether a part is a guess. Matching by process proves that no thread was busy. It does not prove
 * that the request waited for a lock, rather than for another part of the program.
 */
export function isGuess({ joined_by, parts }: SpanThread, reason: string): boolean {
  const locks = parts.some((part) => part.reason === "locks");
  return joined_by === "process" && locks && (reason === "locks" || reason === "idle");
}

/** Name of a part of a span, marked if it is a guess. */
export function guessed(thread: SpanThread, reason: string): string {
  return isGuess(thread, reason) ? `${partName(reason)} (guess)` : partName(reason);
}

/** The part with the most time; null if nothing was measured. */
export function greatestPart({ parts }: SpanThread): SpanPart | null {
  return parts.reduce<SpanPart | null>(
    (most, part) => (most === null || part.ns > most.ns ? part : most),
    null,
  );
}

/** Name of the thread. */
export function threadText({ thread_name, tid, pid, joined_by }: SpanThread): string {
  if (tid !== null) return thread_name === null ? `thread ${tid}` : `${thread_name} (${tid})`;
  if (pid !== null) return joined_by === null ? `process ${pid}` : `all of process ${pid}`;
  return "not known";
}

/** Certainty of the match. */
export function joinText(thread: SpanThread): string {
  const { joined_by, note, coverage } = thread;
  const how =
    joined_by === "thread"
      ? "Joined by thread id: the parts are of that thread alone."
      : joined_by === "process"
        ? `Joined by process and time: the parts are of all threads of the process meanwhile.${isGuess(thread, "locks") ? GUESS : ""}`
        : `Not joined with a thread${note === "" ? "." : ":"}`;
  const measured = joined_by === null ? "" : `${formatPercent(coverage)} was measured.`;
  return [how, measured, note].filter((text) => text !== "").join(" ");
}
