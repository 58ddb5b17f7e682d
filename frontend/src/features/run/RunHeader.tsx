import { localDate, utcTime } from "../../base/clock";
import { navigate } from "../../base/routing";
import { countersName } from "../../chart/describe";
import { formatDuration, formatValue, NO_VALUE } from "../../stream/format";
import { knobName } from "../../stream/steerView";
import { commandLine, outcomeCommand } from "../../stream/targetName";
import { Button } from "../../ui/Controls";
import { InlineEdit } from "../../ui/InlineEdit";
import { ProblemNotice, RunStateBadge } from "../../ui/Notices";
import { type Fact, FactList, Tooltip } from "../../ui/Overlays";
import { MAX_RUN_NAME } from "../../wire/generated/limits";
import type { RunManifest } from "../../wire/generated/models";
import header from "../scope/TargetHeader.module.css";
import { ExportMenu } from "./ExportMenu";
import styles from "./RunPage.module.css";
import { useRunChange } from "./useRunChange";

interface RunHeaderProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
}

/** Subject, time and circumstances of the recording. */
export function RunHeader({ run, onChange }: RunHeaderProps) {
  const { change, problem, locked } = useRunChange(run.id, onChange);
  const { process } = run.target;
  return (
    <header className={`surface ${header.header}`}>
      <div className={header.title}>
        <h1 className={styles.name}>
          <InlineEdit
            label="Name"
            value={run.name}
            maxLength={MAX_RUN_NAME}
            disabled={locked}
            onSave={(name) => change({ name })}
          />
        </h1>
        <RunStateBadge state={run.state} />
        <Tooltip className={header.commandTip} text={<code>{commandLine(process)}</code>}>
          <code className={header.command}>{commandLine(process)}</code>
        </Tooltip>
      </div>
      <div className={header.actions}>
        <Button onClick={() => navigate(`/compare?runs=${run.id}`)}>Compare…</Button>
        <ExportMenu run={run.id} />
        <Button onClick={() => navigate("/runs")}>All runs</Button>
      </div>
      <FactList className={header.facts} facts={factsOf(run)} />
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </header>
  );
}

function factsOf(run: RunManifest): readonly Fact[] {
  const { host, target, counts, policies, outcome } = run;
  const { process, source } = target;
  const started_ms = run.started_unix_us / 1000;
  const count = (value: number) => formatValue(value, "count");
  const facts: Fact[] = [
    ["Recorded", localDate(started_ms), utcTime(started_ms)],
    ["Length", formatDuration((run.to_ns - run.from_ns) / 1e9), null],
    ...(target.group
      ? ([["Group", target.group.name, target.group.discovery_reason]] as const)
      : []),
    [
      target.group ? "Lead process" : "Process",
      `${process.name} (${process.pid})`,
      process.executable,
    ],
    ["Host", host.name, `${host.cpu_model}, ${host.cpus} CPUs`],
    ["Kernel", `Linux ${host.kernel}`, null],
    ["Rate", `${target.rate_hz} Hz`, "Sampling rate requested at the start"],
    [
      "Source",
      `${source.kind}${source.layout === null ? "" : ` ${source.layout}`}`,
      `${source.reason} ${source.exits_reason}`,
    ],
    [
      "Counters from",
      run.counters_from?.map(countersName).join(", then ") || NO_VALUE,
      "How the counters of threads were read: a request for each (genetlink), one walk over all (eBPF), or /proc; the numbers mean the same",
    ],
    [
      "Policy",
      policies.length === 0
        ? "none"
        : [
            ...new Set(
              policies.map(({ policy, shadow }) => `${policy}${shadow ? " (shadow)" : ""}`),
            ),
          ].join(", "),
      policies.length === 0
        ? "Nothing steered this program"
        : policies
            .map(
              ({ policy, knob, lower, upper }) =>
                `${policy}: ${knobName(knob)}, ${lower} to ${upper}`,
            )
            .join("; "),
    ],
    ["Threads", count(counts.threads), "Alive at any time during the run"],
    [
      "Size",
      formatValue(counts.bytes, "bytes"),
      `${count(counts.frames)} frames, ${count(counts.thread_samples)} rows, ${count(counts.events)} events`,
    ],
    ["Recorded by", `tidscope ${run.tidscope}`, run.imported ? "Imported" : null],
  ];
  if (outcome !== null) {
    facts.push([
      "Exit status",
      outcome.signal ?? `exit code ${outcome.exit_code}`,
      `${outcomeCommand(outcome, process.name)}: ${formatDuration(outcome.elapsed_us / 1e6)}, CPU ${formatDuration((outcome.user_cpu_us + outcome.system_cpu_us) / 1e6)}, peak resident memory ${formatValue(outcome.max_rss_bytes, "bytes")}`,
    ]);
  } else if (run.state !== "recording" && run.end_detail !== "") {
    facts.push(["Ended", END_TEXT[run.end ?? "stopped"], run.end_detail]);
  }
  return facts;
}

const END_TEXT: Readonly<Record<NonNullable<RunManifest["end"]>, string>> = {
  stopped: "stopped",
  duration: "duration reached",
  "flight-recorder": "flight recorder",
  "target-ended": "process exited",
  "collector-lost": "collector lost",
  "backend-lost": "backend lost",
  "disk-full": "disk full",
  "write-failed": "writing failed",
};
