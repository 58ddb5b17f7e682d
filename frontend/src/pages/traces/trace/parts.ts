/** What threads did during a span, in words. Pure. */

import { formatPercent } from "../../../model/format";
import { GROUP_NAMES } from "../../../model/states";
import type { SpanPart, SpanThread } from "../../../wire/generated/models";

const NAMES: Readonly<Record<string, string>> = { ...GROUP_NAMES, unknown: "Not measured" };

/** Name of a reason. */
export function partName(reason: string): string {
  return NAMES[reason] ?? reason;
}

/** The part that took most; null: nothing was measured. */
export function greatestPart({ parts }: SpanThread): SpanPart | null {
  return parts.reduce<SpanPart | null>(
    (most, part) => (most === null || part.ns > most.ns ? part : most),
    null,
  );
}

/** Which thread it is. */
export function threadText({ thread_name, tid, pid, joined_by }: SpanThread): string {
  if (tid !== null) return thread_name === null ? `thread ${tid}` : `${thread_name} (${tid})`;
  if (pid !== null) return joined_by === null ? `process ${pid}` : `all of process ${pid}`;
  return "not known";
}

/** How sure it is. */
export function joinText({ joined_by, note, coverage }: SpanThread): string {
  const how =
    joined_by === "thread"
      ? "Joined by thread id: the parts are of that thread alone."
      : joined_by === "process"
        ? "Joined by process and time: the parts are of all threads of the process meanwhile."
        : "Not joined with a thread.";
  const measured = joined_by === null ? "" : `${formatPercent(coverage)} was measured.`;
  return [how, measured, note].filter((text) => text !== "").join(" ");
}
