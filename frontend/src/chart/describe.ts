/** Charts and events in words. */

import { natureOf, partName, TIME_PARTS, type TimePart } from "../stream/breakdown";
import {
  counted,
  exitStatusText,
  formatDuration,
  formatPercent,
  formatValue,
} from "../stream/format";
import { NATURE_NAMES, type Nature } from "../stream/states";
import { type SteerView, signalName } from "../stream/steerView";
import type { ChartView, LineView, TimesRow, TimesView } from "../stream/views";
import type { CountersSource, TargetEvent } from "../wire/generated/models";
import { describeSteer, isSteerChart } from "./steerMarks";

const MAX_LINES = 3;

/** Text alternative of a chart. */
export function describeChart(
  view: ChartView | null,
  title: string,
  steer: SteerView | null = null,
): string {
  if (!view) return `${title}: loading.`;
  if (view.state === "absent") return `${title}: not available. ${view.reason}`;
  if (view.state === "waiting") return `${title}: not enough data yet.`;
  const span = formatDuration(view.t1_s - view.t0_s);
  if (view.times) return `${title}, ${span}, ${describeTimes(view.times)}`;
  const known = view.lines.filter((line) => line.kind !== "others" && !Number.isNaN(line.last));
  if (known.length === 0) return `${title}, ${span}: no activity.`;
  const largest = known.sort((a, b) => b.last - a.last).slice(0, MAX_LINES);
  const parts = largest.map((line) => `${lineName(line)} ${formatValue(line.last, view.unit)}`);
  const rest =
    view.others > 0
      ? ` ${nounOf(known, view.others)}${sumsOthers(view) ? " in one line" : ""}.`
      : "";
  const steering = isSteerChart(view.chart) ? describeSteer(steer, view.t0_s, view.t1_s) : "";
  return `${title}, ${span}: ${parts.join(", ")}.${rest}${steering}`;
}

/** Whether one line is the sum of members without lines. */
export function sumsOthers({ lines }: ChartView): boolean {
  return lines.some(({ kind }) => kind === "others");
}

/** Count of further items, with the noun of the lines. */
export function nounOf([first]: readonly LineView[], count: number): string {
  if (first?.pid !== undefined) return counted(count, "more process", "more processes");
  return counted(count, first?.key?.startsWith("role:") ? "more role" : "more thread");
}

/** Shares of time in words, relative to the whole, and missing distinctions. */
export function describeTimes({ name, whole, absent }: TimesView): string {
  if (!(whole.wall_s > 0)) {
    return whole.folded_s > 0 ? `${name}: idle all the time.` : `${name}: no thread lived.`;
  }
  const lacking = new Set(absent.map(({ part }) => inText(part)));
  const without = lacking.size === 0 ? "" : ` Not fully available: ${[...lacking].join(", ")}.`;
  const of = whole.folded_s > 0 ? ", of the time that is not idle" : "";
  return `${name}${of}: ${sharesOf(whole)}.${without}`;
}

/** Name of a part within a sentence: "on CPU". */
function inText(part: TimePart): string {
  const name = partName(part);
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** Shares of a row's parts, largest first, at least half a percent each. */
export function sharesOf({ parts, wall_s }: TimesRow): string {
  return TIME_PARTS.map((part) => [part, parts[part] / wall_s] as const)
    .filter(([, share]) => share >= 0.005)
    .sort((a, b) => b[1] - a[1])
    .map(([part, share]) => `${inText(part)} ${formatPercent(share)}`)
    .join(", ");
}

/** Shares of running, waiting for a CPU, blocked, idle and unknown time, largest first. */
export function naturesOf({ parts, wall_s }: TimesRow): string {
  const sums = new Map<Nature, number>();
  for (const part of TIME_PARTS) {
    const nature = natureOf(part);
    // A part that is not available is NaN.
    if (parts[part] > 0) sums.set(nature, (sums.get(nature) ?? 0) + parts[part]);
  }
  return [...sums]
    .map(([nature, seconds]) => [NATURE_NAMES[nature], seconds / wall_s] as const)
    .filter(([, share]) => share >= 0.005)
    .sort((a, b) => b[1] - a[1])
    .map(([name, share]) => `${name} ${formatPercent(share)}`)
    .join(", ");
}

/** Name of a line, such as "worker-1 (1234) read". */
export function lineName(line: LineView): string {
  const id = line.tid ?? line.pid ?? null;
  const name = id === null ? line.name : `${line.name} (${id})`;
  return line.variant_name === "" ? name : `${name} ${line.variant_name}`;
}

/** Note for an "others" line above the plot: "others ↑ 1.98 cores". */
export function othersNote(view: ChartView): string {
  const parts = view.lines
    .filter((line) => line.kind === "others")
    .map((line) => `${line.variant_name} ${formatValue(line.last, view.unit)}`.trim());
  return `others ↑ ${parts.join(", ")}`;
}

/** An event in one sentence. */
export function describeEvent(event: TargetEvent): string {
  switch (event.type) {
    case "thread_born":
      return `Thread ${event.name} (${event.tid}) started.`;
    case "thread_renamed":
      return `Thread ${event.previous} (${event.tid}) is now ${event.name}.`;
    case "thread_exited":
      return `Thread ${event.name} (${event.tid}) exited${event.exact ? "" : " without an exit record"}.`;
    case "target_exited":
      return event.exit_code === null
        ? "The process exited."
        : `The process exited: ${exitStatusText(event.exit_code)}.`;
    case "target_detached":
      return "Detached.";
    case "rate_changed":
      return `Sampling rate changed from ${event.previous_hz} to ${event.rate_hz} Hz.`;
    case "rate_adapted":
      if (event.rate_hz < event.previous_hz && event.undelivered_bytes != null) {
        return `Sampling rate lowered from ${event.previous_hz} to ${event.rate_hz} Hz (${event.requested_hz} requested): ${formatValue(event.undelivered_bytes, "bytes")} of frames wait to be delivered.`;
      }
      return event.rate_hz < event.previous_hz
        ? `Sampling rate lowered from ${event.previous_hz} to ${event.rate_hz} Hz (${event.requested_hz} requested): sampling used ${formatValue(event.overhead_percent / 100, "share")} of a core (budget ${event.budget_percent} %).`
        : `Sampling rate raised from ${event.previous_hz} to ${event.rate_hz} Hz: the CPU budget allows it.`;
    case "deadlines_missed":
      return `${plural(event.count, "sample was", "samples were")} not taken in time.`;
    case "exit_records_lost":
      return `${plural(event.count, "exit record was", "exit records were")} lost on this host.`;
    case "gap":
      return `${plural(event.to_seq - event.from_seq + 1, "frame is", "frames are")} missing: ${event.reason}.`;
    case "gomaxprocs_changed":
      return `${event.pid == null ? "" : `Process ${event.pid}: `}GOMAXPROCS went from ${event.previous} to ${event.size}.`;
    case "program_executed":
      return `${event.pid == null ? "The process" : `Process ${event.pid}`} executed ${event.executable ?? event.name}.`;
    case "sample_failed":
      return `A sample could not be taken: ${event.reason}.`;
    case "counters_source_changed":
      return `Counters are read by ${countersName(event.source)}, before by ${countersName(event.previous)}: ${event.reason}.`;
    case "steering_started":
      return `${ofProgram(event)}${event.policy} ${event.shadow ? "decides in shadow mode" : "steers"} from size ${event.size}, between ${event.lower} and ${event.upper}, on ${signalName(event.signal)}${event.proxy ? ", a proxy signal" : ""} (by ${event.actor}).`;
    case "steering_decided":
      return event.next_size === event.size
        ? `${ofProgram(event)}${event.policy} stays at ${event.size}. ${event.reason}`
        : `${ofProgram(event)}${event.policy}: ${event.size} → ${event.next_size}. ${event.reason}`;
    case "search_restarted":
      return `${ofProgram(event)}${event.policy} search restarted: ${event.reason}${event.actor === "" ? "" : ` (${event.actor})`}.`;
    case "steering_released":
      return `${ofProgram(event)}${event.policy} released by ${event.actor}; size ${event.size} restored.`;
    case "steering_problem":
      return event.problem === null
        ? `${ofProgram(event)}${event.policy} works again.`
        : `${ofProgram(event)}${event.policy} cannot run: ${event.problem}`;
    case "steering_proven":
      return `${event.policy}, proof ended. ${event.proof.text}`;
    case "steering_swept":
      return `Sweep of sizes ended. ${event.sweep.text}`;
  }
}

/** The program of a group that an event concerns, if any. */
function ofProgram({
  pid,
  program,
}: {
  readonly pid?: number | null;
  readonly program?: string | null;
}) {
  return pid == null ? "" : `${program ?? "process"} (${pid}): `;
}

/** Source of the threads' counters, in words. */
export function countersName(source: CountersSource): string {
  return { genetlink: "genetlink", walk: "eBPF walk", procfs: "/proc" }[source];
}

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
