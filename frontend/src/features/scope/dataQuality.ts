import { counted, formatDifference, formatDuration, formatValue } from "../../stream/format";
import { deviation } from "../../stream/inexact";
import type { DataHealth, TargetView } from "../../stream/targetView";
import type { CpuAccount, GroupCheck, GroupCounts } from "../../wire/generated/models";

/** Trustworthiness of the data in one word, with warnings. */
export interface DataQuality {
  readonly status: "ok" | "warning" | "error" | "unknown";
  readonly label: string;
  readonly warnings: readonly string[];
}

/** Minimum share of the effective rate that must arrive; a warning below it. */
const ENOUGH_OF_RATE = 0.85;
/**
 * Share of frames with missed deadlines above which a warning is due; fewer are normal on a busy
 * machine.
 */
const MANY_MISSED = 0.01;
const SLOW_MS = 500;
/** Maximum normal deviation of threads and process, which are read some microseconds apart. */
const MANY_OFF = 0.01;
const OFF_S = 0.05;

/** Assess the data of a target; `connected` says whether the backend is reachable. */
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

/** Warning if processes of a group may have been missed; null otherwise. */
function missedProcesses({ group, discovery }: DataHealth): string | null {
  if (group === null || group.missed === 0) {
    return null;
  }
  const why = discovery === null ? "" : `: ${discovery.discovery_reason}`;
  return group.missed === null
    ? `Processes that lived only between two samples may have been missed, and how many cannot be known${why}.`
    : `${counted(group.missed, "short-lived process", "short-lived processes")} may have been missed${why}.`;
}

/** Warning if threads do not add up to their process; null otherwise. */
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

/** Maximum normal deviation: readings are some microseconds apart, and time is counted at ticks. */
const ACCOUNT_MANY_OFF = 0.01;
const OFF_NS = 50_000_000;

const BY: Readonly<Record<CpuAccount, string>> = {
  "cpu.stat": "the cgroup's cpu.stat",
  "cpuacct.usage": "the cgroup's cpuacct.usage",
  rusage: "rusage of its processes and the children they waited for",
};

/** "−0.08 %", relative to the kernel's value. */
function offText(here: number, kernel: number): string {
  const off = kernel === 0 ? Number.NaN : here / kernel - 1;
  if (Number.isNaN(off)) return "";
  return ` (${formatDifference(100 * off)})`;
}

/** "12.3 s here, 12.3 s by the cgroup's cpu.stat (−0.08 %)". */
function cpuAccountText(check: GroupCheck): string {
  const [here, kernel] = [check.threads_cpu_ns, check.kernel_cpu_ns];
  const said = `${formatValue(here / 1e9, "s")} here, ${formatValue(kernel / 1e9, "s")}`;
  return `${said} by ${BY[check.cpu_by]}${offText(here, kernel)}`;
}

function bytesText(here: number | null, kernel: number | null, by: string): string | null {
  if (here === null || kernel === null) return null;
  const said = `${formatValue(here, "bytes")} here, ${formatValue(kernel, "bytes")}`;
  return `${said} by the cgroup's ${by}${offText(here, kernel)}`;
}

/** Rows of data quality: name, value and meaning. */
export function accountRows({
  check,
}: GroupCounts): readonly (readonly [string, string, string])[] {
  if (check == null) return [];
  const rows: (readonly [string, string, string])[] = [
    [
      "CPU of the group",
      cpuAccountText(check),
      "Live and ended threads added up, and the kernel's own account of the group, both since the first sample",
    ],
  ];
  const by = check.io_by ?? "";
  const read = bytesText(check.threads_read_bytes, check.kernel_read_bytes, by);
  const written = bytesText(check.threads_write_bytes, check.kernel_write_bytes, by);
  if (read !== null) {
    rows.push([
      "Disk reads of the group",
      read,
      "A device that stands on others (LVM, encryption) counts in the cgroup's account once for each layer",
    ]);
  }
  if (written !== null) {
    rows.push([
      "Disk writes of the group",
      written,
      "Threads count a page when they first change it; control groups of version 1 do not count pages that are written later",
    ]);
  }
  return rows;
}

/** Warning if threads do not add up to their group; null otherwise. */
export function groupDisagreement({ check }: GroupCounts): string | null {
  if (check == null) return null;
  const [here, kernel] = [check.threads_cpu_ns, check.kernel_cpu_ns];
  const off = Math.abs(here - kernel);
  return off > OFF_NS && off > ACCOUNT_MANY_OFF * kernel
    ? `CPU time of the group: ${cpuAccountText(check)}.`
    : null;
}

/** Minimum rate to which the collector throttles. */
const LOWEST_HZ = 1;
/** Headroom, because the sampling cost fluctuates. */
const ROOM = 1.3;

type Rates = Pick<
  DataHealth,
  "rate_hz" | "in_force_hz" | "overhead_percent" | "budget_percent" | "slowed_by_backlog"
>;

/** Whether the collector samples less often than requested. */
export function isThrottled({
  rate_hz,
  in_force_hz,
}: Pick<Rates, "rate_hz" | "in_force_hz">): boolean {
  return in_force_hz < rate_hz;
}

/** Reason for the throttling, and the remedy; null without throttling. */
export function throttlingText(health: Rates): string | null {
  if (!isThrottled(health)) {
    return null;
  }
  const { rate_hz, in_force_hz, overhead_percent, budget_percent } = health;
  if (health.slowed_by_backlog) {
    return `The collector samples at ${in_force_hz} Hz instead of the requested ${rate_hz} Hz because frames wait to be delivered: the backend takes fewer than there are. The rate rises again when they have arrived.`;
  }
  const parts = [
    `The collector samples at ${in_force_hz} Hz instead of the requested ${rate_hz} Hz to stay within its CPU budget of ${budget_percent} % of a core.`,
  ];
  if (in_force_hz <= LOWEST_HZ && (overhead_percent ?? 0) > budget_percent) {
    parts.push("It is above the budget even at this rate, the lowest.");
  }
  parts.push(
    `The rate rises again when there is room. For the full rate, start tidscope with --budget-percent ${enough(health)} (0: no limit).`,
  );
  return parts.join(" ");
}

/**
 * CPU budget sufficient for the requested rate: the cost per sample does not increase with the
 * rate.
 */
function enough({ rate_hz, in_force_hz, overhead_percent, budget_percent }: Rates): number {
  const spent = Math.max(overhead_percent ?? budget_percent, budget_percent / 2);
  return Math.max(Math.ceil(budget_percent) + 1, Math.ceil((ROOM * spent * rate_hz) / in_force_hz));
}
