import type { ChartTheme } from "../../chart/palette";
import { groupColours } from "../../chart/stateColours";
import { formatPercent } from "../../stream/format";
import { GROUP_NAMES, type StateGroup } from "../../stream/states";
import { ColourKeys } from "../../ui/ColourKeys";
import type { SpanPart, SpanThread } from "../../wire/generated/models";
import { shareText, timeText } from "../traces/callTree";
import styles from "./Trace.module.css";

const NAMES: Readonly<Record<string, string>> = { ...GROUP_NAMES, unknown: "Not measured" };

const GUESS =
  " That the request waited inside the program is known; that it was for a lock is a guess, by how much threads of the process waited for locks around that time.";

/** Name of a reason. */
function partName(reason: string): string {
  return NAMES[reason] ?? reason;
}

/**
 * Whether a part is a guess. Matching by process proves that no thread was busy. It does not prove
 * that the request waited for a lock, rather than for another part of the program.
 */
function isGuess({ joined_by, parts }: SpanThread, reason: string): boolean {
  const locks = parts.some((part) => part.reason === "locks");
  return joined_by === "process" && locks && (reason === "locks" || reason === "idle");
}

/** Name of a part of a span, marked if it is a guess. */
export function guessed(thread: SpanThread, reason: string): string {
  return isGuess(thread, reason) ? `${partName(reason)} (guess)` : partName(reason);
}

/** Time of a part, with its share of the span unless the part is a guess. */
export function partText(thread: SpanThread, { reason, ns }: SpanPart): string {
  if (isGuess(thread, reason)) return timeText(ns);
  return `${timeText(ns)} (${shareText(ns / Math.max(1, thread.own_ns))})`;
}

/** The part with the most time; null if nothing was measured. */
export function greatestPart({ parts }: SpanThread): SpanPart | null {
  return parts.reduce<SpanPart | null>(
    (most, part) => (most === null || part.ns > most.ns ? part : most),
    null,
  );
}

/** Whether nothing is known of what the span's thread did in its time. */
export function isUnknown({ parts }: SpanThread): boolean {
  return parts.every(({ reason }) => reason === "unknown");
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
  if (joined_by !== null && isUnknown(thread)) {
    return [`Joined by ${joined_by === "thread" ? "thread id" : "process and time"}.`, note]
      .join(" ")
      .trim();
  }
  const how =
    joined_by === "thread"
      ? "Joined by thread id: the parts are of that thread alone."
      : joined_by === "process"
        ? `Joined by process and time: the parts are of all threads of the process meanwhile.${isGuess(thread, "locks") ? GUESS : ""}`
        : `Not joined with a thread${note === "" ? "." : ":"}`;
  const measured = joined_by === null ? "" : `${formatPercent(coverage)} was measured.`;
  return [how, measured, note].filter((text) => text !== "").join(" ");
}

function isGroup(reason: string): reason is StateGroup {
  return reason in GROUP_NAMES;
}

function colourOf(reason: string, theme: ChartTheme): string {
  if (isGroup(reason)) return groupColours(theme.dark)[reason];
  return `repeating-linear-gradient(135deg, ${theme.grid} 0 2px, ${theme.background} 2px 5px)`;
}

interface PartsBarProps {
  readonly thread: SpanThread;
  readonly theme: ChartTheme;
}

/** A span's own time, by its thread's activity. */
export function PartsBar({ thread, theme }: PartsBarProps) {
  if (isUnknown(thread)) {
    return (
      <span className={styles.none} title={joinText(thread)}>
        not measured
      </span>
    );
  }
  const whole = thread.parts.reduce((sum, { ns }) => sum + ns, 0);
  const text = thread.parts.map(({ reason, ns }) => `${guessed(thread, reason)} ${timeText(ns)}`);
  return (
    <span className={styles.parts} role="img" aria-label={text.join(", ")} title={text.join("\n")}>
      {thread.parts.map(({ reason, ns }) => (
        <span
          key={reason}
          data-guess={isGuess(thread, reason)}
          style={{ width: `${(100 * ns) / whole}%`, background: colourOf(reason, theme) }}
        />
      ))}
    </span>
  );
}

interface PartsLegendProps {
  readonly rows: readonly SpanThread[];
  readonly theme: ChartTheme;
}

/** Legend of the parts that occur in any span. */
export function PartsLegend({ rows, theme }: PartsLegendProps) {
  const sums = new Map<string, number>();
  for (const { reason, ns } of rows.flatMap(({ parts }) => parts)) {
    sums.set(reason, (sums.get(reason) ?? 0) + ns);
  }
  if (sums.size === 0) return null;
  const keys = [...sums]
    .sort((a, b) => b[1] - a[1])
    .map(([reason, ns]) => ({
      ground: colourOf(reason, theme),
      text: `${partName(reason)} ${timeText(ns)}`,
    }));
  return <ColourKeys label="What threads did" keys={keys} />;
}
