import { counted, formatDuration, formatValue } from "../../stream/format";
import { deviation } from "../../stream/reconciliation";
import type { DataHealth, TargetView } from "../../stream/views";
import { groupDisagreement } from "./groupAccount";
import { throttlingText } from "./throttling";

/** How far the data can be trusted, in one word, and what is not as it should be. */
export interface DataQuality {
  readonly status: "ok" | "warning" | "error" | "unknown";
  readonly label: string;
  readonly warnings: readonly string[];
}

/** Fewer samples than this share of the effective rate are worth a warning. */
const ENOUGH_OF_RATE = 0.85;
/** Missed deadlines are a matter of course on a busy machine up to this share of frames. */
const MANY_MISSED = 0.01;
const SLOW_MS = 500;
/** Threads and process are read some microseconds apart: they may differ by so much. */
const MANY_OFF = 0.01;
const OFF_S = 0.05;

/** Judge the data of a target; `connected` is whether the page hears from the backend. */
export function assessDataQuality(
  health: DataHealth | null,
  state: TargetView["state"],
  connected: boolean,
): DataQuality {
  if (health === null || health.frames === 0) {
    return { status: "unknown", label: "No data yet", warnings: [] };
  }
  const warnings: string[] = [];
  if (state !== "ended" && (!connected || state === "quiet")) {
    warnings.push("No new samples are arriving; the last ones are shown.");
  }
  if (health.bad_frames > 0) {
    warnings.push(
      `${counted(health.bad_frames, "frame")} could not be decoded: ${health.bad_frame_reason}`,
    );
  }
  if (health.missing_frames > 0) {
    warnings.push(
      `${counted(health.missing_frames, "frame")} missing in ${counted(health.gaps, "gap")}; totals are correct again after each gap.`,
    );
  }
  if (health.exit_records_lost > 0) {
    warnings.push(
      `The kernel dropped ${counted(health.exit_records_lost, "exit record")} (all processes); totals of threads that exited then are from their last sample.`,
    );
  }
  const missed = missedProcesses(health);
  if (missed !== null) {
    warnings.push(missed);
  }
  const mismatch = health.group === null ? disagreement(health) : groupDisagreement(health.group);
  if (mismatch !== null) {
    warnings.push(mismatch);
  }
  if (health.counters_disagreement !== null) {
    warnings.push(
      `Counters read in one walk disagreed with taskstats: ${health.counters_disagreement}. They are read by genetlink now.`,
    );
  }
  if (health.locks_reason !== null) {
    warnings.push(`Not all locks are known or named: ${health.locks_reason.replace(/\.$/, "")}.`);
  }
  const throttled = state === "ended" ? null : throttlingText(health);
  if (throttled !== null) {
    warnings.push(throttled);
  }
  if (state === "live" && health.arriving_hz < ENOUGH_OF_RATE * health.in_force_hz) {
    warnings.push(
      `${health.arriving_hz.toFixed(1)} of ${health.in_force_hz} samples per second arrive.`,
    );
  }
  if (health.missed_deadlines > MANY_MISSED * health.frames) {
    warnings.push(
      `${counted(health.missed_deadlines, "deadline")} missed: the host was too busy to sample in time.`,
    );
  }
  if (state === "live" && (health.latency_ms ?? 0) > SLOW_MS) {
    warnings.push(
      `Samples take ${formatDuration((health.latency_ms ?? 0) / 1000)} to reach this page.`,
    );
  }
  if (health.bad_frames > 0) {
    return { status: "error", label: "Data incomplete", warnings };
  }
  return warnings.length === 0
    ? { status: "ok", label: "Data OK", warnings }
    : { status: "warning", label: counted(warnings.length, "warning"), warnings };
}

/** A warning if processes of a group may have been missed; null if not. */
function missedProcesses({ group, discovery }: DataHealth): string | null {
  if (group === null || group.missed === 0) {
    return null;
  }
  const why = discovery === null ? "" : `: ${discovery.discovery_reason}`;
  return group.missed === null
    ? `Processes that lived only between two samples may have been missed, and how many cannot be known${why}.`
    : `${counted(group.missed, "short-lived process", "short-lived processes")} may have been missed${why}.`;
}

/** A warning if threads do not add up to their process; null if they do. */
function disagreement({ cpu_check, ...health }: DataHealth): string | null {
  if (cpu_check === null) {
    return null;
  }
  const off = deviation(cpu_check);
  const seconds = Math.abs(cpu_check.threads_s - cpu_check.process_s);
  if (!(Math.abs(off) > MANY_OFF) || seconds < OFF_S) {
    return null;
  }
  const causes = [
    health.exit_records_lost > 0
      ? `the kernel dropped ${counted(health.exit_records_lost, "exit record")}`
      : "",
    health.exits_inexact > 0
      ? `${counted(health.exits_inexact, "thread")} exited without an exit record`
      : "",
    health.missing_frames > 0 ? `${counted(health.missing_frames, "frame")} missing` : "",
  ].filter((cause) => cause !== "");
  const why = causes.length > 0 ? causes.join(", ") : "no known loss explains it";
  const sign = off < 0 ? "less" : "more";
  return `Live and exited threads used ${formatValue(Math.abs(off), "share")} ${sign} CPU than the process as a whole: ${why}.`;
}
