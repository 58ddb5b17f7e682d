import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { countersName } from "../../chart/describe";
import { useLiveClient } from "../../stream/client";
import { counted, formatDuration, formatValue, NO_VALUE } from "../../stream/format";
import { deviation } from "../../stream/inexact";
import type { DataHealth, TargetView } from "../../stream/targetView";
import { StatusIcon } from "../../ui/Notices";
import { Popover } from "../../ui/Overlays";
import { accountRows, assessDataQuality } from "./dataQuality";
import styles from "./TargetHeader.module.css";

/** Data quality in two words; opens to the numbers. */
export function DataQualityIndicator({ state }: { readonly state: TargetView["state"] }) {
  const client = useLiveClient();
  const health = useThrottled(client.health, READABLE_MS);
  const connected = useStore(client.connection).state === "open";
  const { status, label, warnings } = assessDataQuality(health, state, connected);
  return (
    <Popover
      label="Data quality"
      face={
        <span className={styles.face} data-quality={status}>
          <StatusIcon status={status} />
          <span className={styles.word}>{label}</span>
        </span>
      }
    >
      <h2>Data quality</h2>
      {warnings.length === 0 ? null : (
        <ul className={styles.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {health === null ? null : <Numbers health={health} />}
    </Popover>
  );
}

function Numbers({ health }: { readonly health: DataHealth }) {
  return (
    <dl className={styles.numbers}>
      {rowsOf(health).map(([name, value, meaning]) => (
        <div key={name} title={meaning}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** "live + ended = process − 0.02 %". */
function checkText(check: DataHealth["cpu_check"]): string {
  const off = check === null ? Number.NaN : deviation(check);
  if (check === null || Number.isNaN(off)) {
    return NO_VALUE;
  }
  const sign = off === 0 ? "±" : off < 0 ? "−" : "+";
  return `process ${sign} ${formatValue(Math.abs(off), "share")} of ${formatValue(check.process_s, "s")}`;
}

/** "2.5 Hz: frames wait to be delivered". */
function effectiveText({ in_force_hz, slowed_by_backlog }: DataHealth): string {
  if (Number.isNaN(in_force_hz)) return NO_VALUE;
  return `${in_force_hz} Hz${slowed_by_backlog ? ": frames wait to be delivered" : ""}`;
}

/** "1.40 % of a core (budget 2 %)". */
function overheadText({ overhead_percent, budget_percent }: DataHealth): string {
  const used = formatValue((overhead_percent ?? Number.NaN) / 100, "share");
  return `${used} of a core (${budget_percent > 0 ? `budget ${budget_percent} %` : "no budget"})`;
}

/** Processes that a group may have missed. */
function processRows({ group, discovery }: DataHealth) {
  if (group === null) {
    return [];
  }
  const count = (value: number) => formatValue(value, "count");
  return [
    [
      "Processes found by",
      discovery?.discovery === "ebpf" ? "the kernel's events" : "reading lists",
      discovery?.discovery_reason ?? "",
    ],
    [
      "Processes",
      `${count(group.started)} started, ${count(group.ended)} ended, ${count(group.unseen)} unseen`,
      "Since attach; unseen ones started and ended between two samples, and are counted by their exit records",
    ],
    [
      "Missed processes",
      group.missed === null ? "not known" : count(group.missed),
      "Processes that may have come and gone without a record",
    ],
    ...accountRows(group),
  ] as const;
}

/** Name, value and meaning of each number. */
function rowsOf(health: DataHealth): readonly (readonly [string, string, string])[] {
  const { stream } = health;
  const count = (value: number) => formatValue(value, "count");
  return [
    [
      "Received rate",
      `${Number.isNaN(health.arriving_hz) ? NO_VALUE : health.arriving_hz.toFixed(1)} of ${health.rate_hz} Hz`,
      "Received and requested samples per second",
    ],
    [
      "Effective rate",
      effectiveText(health),
      "The rate the collector samples at; below the requested rate while its CPU budget is used up or frames wait to be delivered",
    ],
    [
      "Latency",
      health.latency_ms === null ? NO_VALUE : `${health.latency_ms.toFixed(0)} ms`,
      "From the sample in the kernel to this page; clocks of two hosts may differ",
    ],
    [
      "Sampling time",
      `${count(health.sample_mean_us)} µs, up to ${count(health.sample_max_us)} µs`,
      "Time the collector takes to read all threads: mean and maximum of the last seconds",
    ],
    [
      "Lateness",
      `${count(health.late_us)} µs`,
      "How late the last sample started after its deadline",
    ],
    ["Missed deadlines", count(health.missed_deadlines), "Samples not taken in time"],
    [
      "Counters from",
      health.counters_from === null ? NO_VALUE : countersName(health.counters_from),
      "How the counters of threads are read: a request to the kernel for each thread (genetlink), one walk over all threads (eBPF), or /proc; the numbers mean the same",
    ],
    ["Frames", count(health.frames), "Frames received"],
    [
      "Coalesced",
      count(health.coalesced),
      "Frames merged into a later one because a reader was slow; totals stay correct",
    ],
    [
      "Dropped",
      stream === null ? NO_VALUE : count(stream.dropped),
      "Frames the backend could not deliver to this page",
    ],
    [
      "Missing",
      `${count(health.missing_frames)} in ${counted(health.gaps, "gap")}`,
      "Frames that never arrived, by sequence number",
    ],
    [
      "Exit records",
      count(health.exit_records_received),
      "Exit records received from the kernel, host-wide",
    ],
    [
      "Lost exit records",
      count(health.exit_records_lost),
      "Exit records dropped by the kernel, host-wide",
    ],
    ...processRows(health),
    [
      "Thread CPU",
      checkText(health.cpu_check),
      "CPU time of live and exited threads against that of the process since this page's first sample; the kernel counts the two independently",
    ],
    [
      "Without exit record",
      count(health.exits_inexact),
      "Threads of this process that exited without an exit record; their totals are from their last sample",
    ],
    [
      "Collector CPU",
      health.collector_cpu_percent === null
        ? NO_VALUE
        : formatValue(health.collector_cpu_percent / 100, "share"),
      "Of the whole collector over the last second; 100 % is one core",
    ],
    [
      "Sampling overhead",
      overheadText(health),
      "CPU used by sampling and sending, all targets together, and the budget above which rates are lowered",
    ],
    [
      "Sent",
      formatValue(health.sent_bytes, "bytes"),
      "Data the collector sent to the backend since it started, all targets together",
    ],
    [
      "Replay buffer",
      `${formatValue(health.replay_bytes, "bytes")}, ${count(health.unsent_frames)} of ${count(health.replay_frames)} frames unsent`,
      "Frames the collector keeps in case the backend goes away, and how many of them wait to be sent",
    ],
    [
      "Dropped by the collector",
      count(health.frames_dropped),
      "Frames of this target that the collector had no room for before the backend had them",
    ],
    [
      "Exits in totals only",
      count(health.exits_without_event),
      "Threads that exited and are counted, but not listed: too many exited at once",
    ],
    [
      "Uncounted network calls",
      count(health.network_calls_uncounted),
      "Socket calls the eBPF program could not count because all its slots were in use, host-wide",
    ],
    [
      "History",
      `${formatValue(health.history_bytes, "bytes")}, from ${formatDuration(health.history_from_s)}`,
      "History held by this page, and how long after attach it starts",
    ],
  ];
}
