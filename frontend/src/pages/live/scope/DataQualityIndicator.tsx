import { READABLE_MS, useStore, useThrottled } from "../../../base/useStore";
import { formatDuration, formatValue, NO_VALUE } from "../../../model/format";
import { deviation } from "../../../model/reconciliation";
import type { DataHealth, TargetView } from "../../../model/views";
import { Popover } from "../../../ui/Popover";
import { StatusIcon } from "../../../ui/StatusIcon";
import { useLiveClient } from "../../clients";
import styles from "./DataQualityIndicator.module.css";
import { assessDataQuality } from "./dataQuality";

/** How good the data is, in two words; opens into the numbers. */
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
  const percent = Math.abs(100 * off).toFixed(2);
  const sign = percent === "0.00" ? "±" : off < 0 ? "−" : "+";
  return `process ${sign} ${percent} % of ${formatValue(check.process_s, "s")}`;
}

/** "1.4 of 2 %". */
function measuringText({ overhead_percent, budget_percent }: DataHealth): string {
  const measured = overhead_percent === null ? NO_VALUE : overhead_percent.toFixed(1);
  return budget_percent > 0 ? `${measured} of ${budget_percent} %` : `${measured} %, no limit`;
}

/** Name, value and meaning of each number. */
function rowsOf(health: DataHealth): readonly (readonly [string, string, string])[] {
  const { stream } = health;
  const count = (value: number) => formatValue(value, "count");
  return [
    [
      "Rate",
      `${Number.isNaN(health.arriving_hz) ? NO_VALUE : health.arriving_hz.toFixed(1)} of ${health.rate_hz} Hz`,
      "Samples that arrive, of those asked for",
    ],
    [
      "In force",
      Number.isNaN(health.in_force_hz) ? NO_VALUE : `${health.in_force_hz} Hz`,
      "What the collector samples at: less than asked for if its CPU budget is spent",
    ],
    [
      "Latency",
      health.latency_ms === null ? NO_VALUE : `${health.latency_ms.toFixed(0)} ms`,
      "From the sample in the kernel to this page; clocks of two hosts may differ",
    ],
    [
      "Sample time",
      `${count(health.sample_mean_us)} µs, up to ${count(health.sample_max_us)}`,
      "How long the collector took to read all threads: mean and longest of the last seconds",
    ],
    ["Lateness", `${count(health.late_us)} µs`, "How long after its deadline the sample started"],
    ["Missed deadlines", count(health.missed_deadlines), "Samples that could not be taken in time"],
    ["Frames", count(health.frames), "Instants received"],
    [
      "Coalesced",
      count(health.coalesced),
      "Instants merged into a later one because someone was slow; no totals are lost",
    ],
    [
      "Dropped",
      stream === null ? NO_VALUE : count(stream.dropped),
      "Frames the backend could not bring to this page in any form",
    ],
    [
      "Missing",
      `${count(health.missing_frames)} in ${count(health.gaps)} gaps`,
      "Frames that never came, by sequence numbers",
    ],
    [
      "Exit records",
      count(health.exit_records_received),
      "Totals of ended threads that the kernel sent, host-wide",
    ],
    [
      "Lost exits",
      count(health.exit_records_lost),
      "Exit records that the kernel dropped, exact, host-wide",
    ],
    [
      "Threads' CPU",
      checkText(health.cpu_check),
      "CPU that live and ended threads used, against that of the process, since this page's first sample; the kernel counts both on its own",
    ],
    [
      "Without record",
      count(health.exits_inexact),
      "Threads of this process that ended without an exit record; their totals are their last sample",
    ],
    [
      "Collector CPU",
      health.collector_cpu_percent === null
        ? NO_VALUE
        : `${health.collector_cpu_percent.toFixed(1)} %`,
      "Of the whole collector over the last second; 100 % is one core",
    ],
    [
      "Of it measuring",
      measuringText(health),
      "Sampling and sending, all targets together, and what they may take before rates are lowered; the rest answers questions, such as for the list of processes",
    ],
    [
      "Sent",
      formatValue(health.sent_bytes, "bytes"),
      "What the collector sent to the backend since it started, all targets together",
    ],
    [
      "Held for replay",
      `${formatValue(health.replay_bytes, "bytes")}, ${count(health.unsent_frames)} of ${count(health.replay_frames)} frames unsent`,
      "Frames the collector keeps for a backend that was away, and those that still wait to be sent",
    ],
    [
      "Kept here",
      `${formatValue(health.history_bytes, "bytes")}, from ${formatDuration(health.history_from_s)}`,
      "Past that this page holds, from this time after attach",
    ],
  ];
}
