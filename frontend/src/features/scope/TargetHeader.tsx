import { useState } from "react";
import { setRate } from "../../api/client";
import { asProblem } from "../../api/http";
import { VIEW_ONLY } from "../../api/session";
import { navigate } from "../../base/routing";
import { session } from "../../base/session";
import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { formatDuration, formatValue, NO_VALUE } from "../../stream/format";
import { commandLine, isCommand, targetId, targetName } from "../../stream/targetName";
import type { TargetView } from "../../stream/targetView";
import { Button, Select } from "../../ui/Controls";
import { ProblemNotice, StatusIcon } from "../../ui/Notices";
import { type Fact, FactList, Tooltip } from "../../ui/Overlays";
import type { GroupCounts, Problem, Target } from "../../wire/generated/models";
import { pidInside, userInside, userShown } from "../attach/inside";
import { detachLabel, useDetach } from "../attach/useAttach";
import { RecordButton } from "../record/RecordButton";
import { SteerButton } from "../steering/SteerProvider";
import { DataQualityIndicator } from "./DataQualityIndicator";
import { throttlingText } from "./dataQuality";
import styles from "./TargetHeader.module.css";

/** The source in readable form. */
export function networkName(network: string): string {
  const name = network.split(":", 1)[0] ?? network;
  return name === "ebpf" ? "eBPF" : name;
}

/** Detail on the source as a sentence; for "none" the reason. */
export function networkDetail(network: string): string {
  const detail = network.slice(network.indexOf(":") + 1).trim();
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`.replace(/\.\.$/, ".");
}

interface TargetHeaderProps {
  readonly target: Target;
  readonly view: TargetView;
}

/** The observed target, its sampling, and data quality. */
export function TargetHeader({ target, view }: TargetHeaderProps) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const detaching = useDetach();
  const viewer = useStore(session)?.role === "viewer";
  const { process, group } = target;
  const commanded = isCommand(target);
  return (
    <header className={`surface ${styles.header}`}>
      <div className={styles.title} data-group={commanded ? undefined : group?.kind}>
        <h1 className={styles.name} title={commanded ? undefined : group?.name}>
          {targetName(target)}
        </h1>
        <span className={styles.pid} title={pidInside(process) ?? undefined}>
          {targetId(target)}
        </span>
        {commanded ? (
          <Tooltip className={styles.commandTip} text={<code>{commandLine(process)}</code>}>
            <code className={styles.command}>{commandLine(process)}</code>
          </Tooltip>
        ) : null}
      </div>
      <div className={styles.actions}>
        <RecordButton target={target} onProblem={setProblem} />
        <SteerButton />
        <DataQualityIndicator state={view.state} />
        <div className={styles.rate}>
          <RateSelect target={target} locked={viewer} onProblem={setProblem} />
          <EffectiveRate />
        </div>
        {target.state === "attached" ? (
          <Button
            disabled={viewer}
            title={viewer ? VIEW_ONLY : undefined}
            onClick={() => detaching.detachFrom(target)}
          >
            {detachLabel(target)}
          </Button>
        ) : null}
        <Button onClick={() => navigate("/")}>{group ? "Switch target" : "Switch process"}</Button>
      </div>
      <FactList className={styles.facts} facts={factsOf(target, view)} />
      {problem === null ? null : <ProblemNotice problem={problem} />}
      {detaching.problem === null ? null : <ProblemNotice problem={detaching.problem} />}
    </header>
  );
}

/** "12 (340 ended)", and all counts in words. */
function processesFact({ live, started, ended, unseen, missed }: GroupCounts): Fact {
  const count = (value: number) => formatValue(value, "count");
  const lost =
    missed === null
      ? "how many were missed cannot be known"
      : `${count(missed)} may have been missed`;
  return [
    "Processes",
    `${count(live)}${ended > 0 ? ` (${count(ended)} ended)` : ""}${missed === 0 ? "" : missed === null ? ", some perhaps missed" : `, ${count(missed)} missed`}`,
    `${count(live)} live; since attach ${count(started)} started and ${count(ended)} ended, of which ${count(unseen)} between two samples, counted by their exit records; ${lost}.`,
  ];
}

function factsOf(target: Target, view: TargetView): readonly Fact[] {
  const { process, source } = target;
  const nowUnixMs = target.attached_unix_us / 1000 + 1000 * view.now_s;
  const runtime =
    process.runtime === "unknown"
      ? NO_VALUE
      : `${process.runtime} ${process.runtime_version?.replace(/^[a-z]+/i, "") ?? ""}`.trim();
  const facts: Fact[] = [
    ["Uptime", formatDuration((nowUnixMs - process.started_unix_ms) / 1000), null],
    ["Attached for", formatDuration(view.now_s), null],
    ...(view.group ? [processesFact(view.group)] : []),
    ["Threads", formatValue(view.live_threads, "count"), "Live threads"],
    [
      "Memory",
      formatValue(view.rss_bytes ?? Number.NaN, "bytes"),
      "Resident memory of the process",
    ],
    ["Runtime", runtime, process.executable],
  ];
  if (!isCommand(target)) {
    const inside = pidInside(process);
    facts.push([
      "Lead process",
      `${process.name} (${process.pid})`,
      inside === null ? commandLine(process) : `${commandLine(process)}; ${inside}`,
    ]);
  }
  if (process.runtime === "go" || view.gomaxprocs !== null) {
    facts.push([
      "GOMAXPROCS",
      view.gomaxprocs === null ? NO_VALUE : String(view.gomaxprocs),
      target.gomaxprocs_reason,
    ]);
  }
  const { steering } = target;
  if (process.runtime === "go" || steering !== null) {
    facts.push([
      "Policy",
      steering === null ? "none" : `${steering.policy}${steering.shadow ? " (shadow)" : ""}`,
      steering === null
        ? "Not steered"
        : `${steering.shadow ? "Shadow mode: decides but changes nothing. " : ""}${steering.state}: ${steering.reason}`,
    ]);
  }
  if (view.energy_j !== null) {
    facts.push([
      "Energy",
      `${view.energy_is_part ? "≥ " : ""}${formatValue(view.energy_j, "J")}`,
      `Of the whole machine since tidscope attached: ${target.energy.reason}.`,
    ]);
  }
  const layout = source.layout === null ? "" : ` ${source.layout}`;
  facts.push(
    ["Source", `${source.kind}${layout}`, `${source.reason} ${source.exits_reason}`],
    ["Network", networkName(source.network), networkDetail(source.network)],
    ["User", userShown(process), userInside(process)],
  );
  return facts;
}

/** The effective sampling rate, while it is below the requested one. */
function EffectiveRate() {
  const health = useThrottled(useLiveClient().health, READABLE_MS);
  const text = health === null ? null : throttlingText(health);
  if (health === null || text === null) {
    return null;
  }
  return (
    <Tooltip text={text}>
      <button
        type="button"
        className={styles.effectiveRateRate}
        data-effective-hz={health.in_force_hz}
      >
        <StatusIcon status="warning" />
        {health.in_force_hz} Hz effective ({health.rate_hz} requested)
        <span className={styles.text}>. {text}</span>
      </button>
    </Tooltip>
  );
}

const RATES = [1, 2, 5, 10, 20, 50, 100] as const;

interface RateSelectProps {
  readonly target: Target;
  readonly locked: boolean;
  readonly onProblem: (problem: Problem | null) => void;
}

/** Choice of the sampling rate, in Hz. */
function RateSelect({ target, locked, onProblem }: RateSelectProps) {
  const [wanted, setWanted] = useState<number | null>(null);
  const rates = [...new Set([...RATES, target.rate_hz])].sort((a, b) => a - b);
  const change = async (text: string) => {
    setWanted(Number(text));
    onProblem(null);
    try {
      await setRate(target.id, Number(text));
    } catch (error) {
      onProblem(asProblem(error));
    }
    setWanted(null);
  };
  return (
    <Select
      label="Rate"
      value={String(wanted ?? target.rate_hz)}
      disabled={locked || target.state !== "attached" || wanted !== null}
      choices={rates.map((rate) => ({ value: String(rate), label: `${rate} Hz` }))}
      onChange={(text) => void change(text)}
    />
  );
}
