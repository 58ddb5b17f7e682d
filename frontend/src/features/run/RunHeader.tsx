import { useState } from "react";
import { asProblem } from "../../api/http";
import { changeRun, EXPORTS, type ExportFormat, exportHref } from "../../api/runs";
import { withTicket } from "../../api/session";
import { localDate, utcTime } from "../../base/clock";
import { navigate } from "../../base/routing";
import { session } from "../../base/session";
import { hasBackend } from "../../base/source";
import { useStore } from "../../base/useStore";
import { countersName } from "../../chart/describe";
import { clockSkew } from "../../stream/clockSkew";
import { formatDuration, formatValue, NO_VALUE } from "../../stream/format";
import { knobName } from "../../stream/steerView";
import { commandLine, outcomeCommand } from "../../stream/targetName";
import { Button } from "../../ui/Controls";
import { InlineEdit } from "../../ui/InlineEdit";
import { ProblemNotice, RunStateBadge } from "../../ui/Notices";
import { type Fact, FactList, Popover, Tooltip } from "../../ui/Overlays";
import { MAX_RUN_NAME, MAX_RUN_TAGS, MAX_TAG } from "../../wire/generated/limits";
import type { Problem, RunManifest, RunPatch } from "../../wire/generated/models";
import header from "../scope/TargetHeader.module.css";
import styles from "./RunPage.module.css";

interface RunChange {
  readonly change: (patch: RunPatch) => void;
  readonly busy: boolean;
  /** Problem of the last change. */
  readonly problem: Problem | null;
  /** The session is read-only. */
  readonly locked: boolean;
}

/** Changes a run's user-defined metadata. */
export function useRunChange(id: string, onChange: (run: RunManifest) => void): RunChange {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const locked = useStore(session)?.role === "viewer";
  const ask = async (patch: RunPatch) => {
    setBusy(true);
    setProblem(null);
    try {
      onChange(await changeRun(id, patch));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  return { change: (patch) => void ask(patch), busy, problem, locked };
}

/** Maximum length and number of tags: equal to the schema of a run. */

/** Parse comma-separated tags, without duplicates. */
export function parseTags(text: string): string[] {
  const tags = text
    .split(",")
    .map((tag) => tag.trim().slice(0, MAX_TAG))
    .filter((tag) => tag !== "");
  return [...new Set(tags)].slice(0, MAX_RUN_TAGS);
}

const FORMS: Readonly<Record<ExportFormat, readonly [name: string, what: string]>> = {
  folder: ["Folder (.tar.zst)", "Complete run; opens in another tidscope"],
  parquet: ["Parquet", "Tables for DuckDB, Polars, pandas"],
  csv: ["CSV", "Tables as text"],
  trace: ["Trace (Chrome, Perfetto)", "Opens at ui.perfetto.dev"],
  "pools-parquet": ["Pools (Parquet)", "Pools of workers, a row each second"],
  "pools-csv": ["Pools (CSV)", "The same as text"],
};

/** Menu for exporting a run as a file, in one of several formats. */
export function ExportMenu({ run }: { readonly run: string }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = async (format: ExportFormat) => {
    setProblem(null);
    try {
      await download(exportHref(run, format));
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <Popover label="Export" face="Export ▾">
      <ul className={styles.forms}>
        {EXPORTS.map((format) => (
          <li key={format}>
            <button type="button" className={styles.form} onClick={() => void save(format)}>
              {FORMS[format][0]}
            </button>
            <p className={styles.what}>{FORMS[format][1]}</p>
          </li>
        ))}
      </ul>
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </Popover>
  );
}

/** Download by a link: only then the browser streams the answer to disk. */
async function download(href: string): Promise<void> {
  const link = document.createElement("a");
  link.href = await withTicket(href);
  link.download = "";
  link.click();
}

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
      {hasBackend() ? (
        <div className={header.actions}>
          <Button onClick={() => navigate(`/compare?runs=${run.id}`)}>Compare…</Button>
          <ExportMenu run={run.id} />
          <Button onClick={() => navigate("/runs")}>All runs</Button>
        </div>
      ) : null}
      <FactList className={header.facts} facts={factsOf(run)} />
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </header>
  );
}

function factsOf(run: RunManifest): readonly Fact[] {
  const { host, target, counts, policies, outcome } = run;
  const { process, source } = target;
  const started_ms = run.started_unix_us / 1000;
  const skew = clockSkew(host);
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
    ...(skew === null
      ? []
      : ([
          ["Clock", `${skew} the backend's`, "Times of the run are of its host's clock"],
        ] as const)),
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
  for (const { name, value } of run.results ?? []) {
    facts.push([name, formatValue(value, "count"), "Result that was given with the recording"]);
  }
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
