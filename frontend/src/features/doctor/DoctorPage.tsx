/** Feature `doctor`: reports of the backend in, cards with findings and fixes out. */

import { createElement, Fragment, type ReactNode, useCallback, useState } from "react";
import { auditSizes, examine, setDelayAccounting } from "../../api/client";
import { asProblem } from "../../api/http";
import { usePolled } from "../../api/usePolled";
import { localTime, utcTime } from "../../base/clock";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { formatValue } from "../../stream/format";
import { Button, CommandLine, Select } from "../../ui/Controls";
import { ProblemNotice, type Status, StatusIcon } from "../../ui/Notices";
import type {
  CheckStatus,
  CpuAllowance,
  DoctorCheck,
  DoctorReport,
  Problem,
  SizeAudit,
  SizedProgram,
} from "../../wire/generated/models";
import styles from "./DoctorPage.module.css";
import { PredictionPanel } from "./PredictionPanel";

/** Number of pools, and of misconfigured ones. */
export function auditText(audit: SizeAudit): string {
  const count = audit.programs.length;
  if (count === 0) {
    return "No Go program, Java virtual machine or program with an agent runs here.";
  }
  const wrong = audit.programs.filter(isWrong).length;
  const omitted = audit.omitted > 0 ? ` ${audit.omitted} more were not looked at.` : "";
  return wrong === 0
    ? `No pool is known to be set wrong (${count} looked at).${omitted}`
    : `${wrong} of ${count} ${count === 1 ? "pool" : "pools"} set wrong.${omitted}`;
}

/** A check; not `known` if the right size is unknown. */
type SizeCheck = DoctorCheck & { readonly known: boolean };

/** Misconfigured programs, followed by programs with an unknown right size, as checks. */
export function sizeChecks(audit: SizeAudit): SizeCheck[] {
  const checks = audit.programs.filter(({ verdict }) => verdict !== "fits").map(sizeCheck);
  return [...checks.filter(({ known }) => known), ...checks.filter(({ known }) => !known)];
}

function sizeCheck(program: SizedProgram): SizeCheck {
  const { process, allowance, pool, verdict, why, change } = program;
  const version = process.runtime_version === null ? "" : `, ${process.runtime_version}`;
  return {
    name: `size-${process.pid}-${pool}`,
    title: `${pool} of ${process.name} (pid ${process.pid}${version})`,
    status: "limited",
    known: verdict !== "unknown",
    finding: [why, `${allowed(allowance)}.`].join(" "),
    impact: throttledText(allowance),
    fix: change ?? "",
  };
}

function isWrong({ verdict }: SizedProgram): boolean {
  return verdict === "too-large" || verdict === "too-small";
}

function allowed(allowance: CpuAllowance): string {
  const parts = [`CPUs of its affinity: ${allowance.cpus}`];
  if (allowance.limit_cores !== null) {
    parts.push(`CPU limit: ${allowance.limit_cores} cores (${allowance.limit_group})`);
  }
  if (allowance.request_cores !== null) {
    parts.push(`CPU request: ${allowance.request_cores} cores`);
  }
  return parts.join("; ");
}

function throttledText({ periods, throttled }: CpuAllowance): string {
  return periods === null || throttled === null || periods === 0 || throttled === 0
    ? ""
    : `throttled in ${formatValue(throttled / periods, "share")} of the limit's periods so far`;
}

/** Measuring capabilities of this machine, and remedies for missing ones. */
export function DoctorPage() {
  const live = useStore(useLiveClient().live);
  const hosts = live?.hosts ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const host = chosen ?? hosts[0]?.id ?? null;
  const load = useCallback((signal: AbortSignal) => examine(host, signal), [host]);
  const polled = usePolled(live === null ? null : load, null);
  const { problem, loading, refresh } = polled;
  const [answer, setAnswer] = useState<SwitchAnswer | null>(null);
  const value = newest(polled.value, answer?.host === host ? answer.report : null);
  return (
    <section className={styles.page} aria-busy={loading}>
      <header className={styles.head}>
        <div className={styles.title}>
          <h1>Doctor</h1>
          <p className={styles.summary}>{value === null ? "" : summary(value)}</p>
        </div>
        {hosts.length > 1 ? (
          <Select
            label="Host"
            value={host ?? ""}
            choices={hosts.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={setChosen}
          />
        ) : null}
        <Button onClick={refresh} disabled={loading}>
          <span className={styles.again}>{loading ? "Checking…" : "Check again"}</span>
        </Button>
      </header>
      {problem === null ? null : <ProblemNotice problem={problem} />}
      {value === null ? (
        <p className={styles.waiting}>{problem === null ? "Checking the host…" : ""}</p>
      ) : (
        <>
          <p className={styles.about}>
            {value.host} · Linux {value.kernel} · checked at{" "}
            <time title={utcTime(value.checked_unix_ms)}>{localTime(value.checked_unix_ms)}</time>
          </p>
          <ul className="surface">
            {value.checks.map((check) => (
              <CheckCard key={check.name} check={check}>
                {check.name === "delay-accounting" && check.enabled != null ? (
                  <DelayAccountingSwitch
                    host={host}
                    on={check.enabled}
                    onReport={(report) => setAnswer({ host, report })}
                  />
                ) : null}
              </CheckCard>
            ))}
          </ul>
          {host === null ? null : <Sizes key={`${host} ${value.checked_unix_ms}`} host={host} />}
        </>
      )}
      <PredictionPanel />
    </section>
  );
}

/** The report returned by a change of the setting, and its host. */
interface SwitchAnswer {
  readonly host: string | null;
  readonly report: DoctorReport;
}

function newest(a: DoctorReport | null, b: DoctorReport | null): DoctorReport | null {
  return a !== null && b !== null ? (a.checked_unix_ms > b.checked_unix_ms ? a : b) : (a ?? b);
}

function summary(report: DoctorReport): string {
  const count = (status: CheckStatus) =>
    report.checks.filter((check) => check.status === status).length;
  const parts = [
    [count("failed"), "failed"],
    [count("limited"), "limited"],
    [count("ok"), "OK"],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number} ${word}`)
    .join(", ");
}

interface SizesProps {
  readonly host: string;
}

/** Pools of a host's programs with sizes that do not match the available CPUs. */
function Sizes({ host }: SizesProps) {
  const load = useCallback((signal: AbortSignal) => auditSizes(host, signal), [host]);
  const { value, problem } = usePolled(load, null);
  const checks = value === null ? [] : sizeChecks(value);
  return (
    <section className={styles.sizes} aria-label="Sizes of pools">
      <h2>Sizes of pools</h2>
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <p className={styles.about}>{value === null ? "" : auditText(value)}</p>
      {checks.length === 0 ? null : (
        <ul className="surface">
          {checks.map((check) => (
            <CheckCard key={check.name} check={check} unknown={!check.known} />
          ))}
        </ul>
      )}
    </section>
  );
}

interface DelayAccountingSwitchProps {
  readonly host: string | null;
  readonly on: boolean;
  readonly onReport: (report: DoctorReport) => void;
}

/** Switch for the kernel's delay accounting, with an explanation of the effect. */
function DelayAccountingSwitch({ host, on, onReport }: DelayAccountingSwitchProps) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const press = async () => {
    setBusy(true);
    setProblem(null);
    try {
      onReport(await setDelayAccounting(host, !on));
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className={styles.switch}>
      <p>
        {on
          ? "Threads that started before it was turned on have no delays: restart the program and attach again to see all of them. Turning it off stops the delay counters of all targets, attached ones included."
          : "Only threads that start while it is on have delays: turn it on, restart the program, then attach again. The setting is host-wide, adds a small cost to every wait, and lasts until the next boot or until you turn it off here."}
      </p>
      <Button onClick={press} disabled={busy}>
        {on ? "Turn off delay accounting" : "Turn on delay accounting"}
      </Button>
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </div>
  );
}

const SHOWN: Readonly<Record<CheckStatus, readonly [Status, string]>> = {
  ok: ["ok", "OK"],
  limited: ["warning", "Limited"],
  failed: ["error", "Failed"],
};

const UNKNOWN: readonly [Status, string] = ["unknown", "Unknown"];

interface CheckCardProps {
  readonly check: DoctorCheck;
  readonly unknown?: boolean;
  /** Controls that fix the finding here. */
  readonly children?: ReactNode;
}

/** One capability: its status, finding, impact and fix. */
function CheckCard({ check, unknown = false, children }: CheckCardProps) {
  const [status, label] = unknown ? UNKNOWN : SHOWN[check.status];
  return (
    <li
      className={styles.check}
      data-check={check.name}
      data-state={unknown ? "unknown" : check.status}
    >
      <p className={`${styles.state} ${styles[status] ?? ""}`}>
        <StatusIcon status={status} />
        {label}
      </p>
      <div className={styles.text}>
        <h2>{check.title}</h2>
        <p className={styles.found}>
          <CodeText text={check.finding} />
        </p>
        {check.impact === "" ? null : (
          <p>
            <span className={styles.word}>Impact: </span>
            <CodeText text={check.impact} />
          </p>
        )}
        {check.fix === "" ? null : (
          <CommandLine command={check.fix} what={`the fix for ${check.title}`} />
        )}
        {children}
      </div>
    </li>
  );
}

/** A sentence with commands in backticks, rendered as code. */
function CodeText({ text }: { readonly text: string }) {
  const parts = text.split("`");
  // Every second part was inside backticks.
  const shown = parts.map((part, n) => (n % 2 === 1 ? createElement("code", null, part) : part));
  return createElement(Fragment, null, ...shown);
}
