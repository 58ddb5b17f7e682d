import { useState } from "react";
import { localDate, localField, localTime, momentOfField } from "../../base/clock";
import { Select } from "../../ui/Controls";
import type { RunSummary } from "../../wire/generated/models";
import { LATENCY_WINDOWS, type TraceSetLink } from "./link";
import styles from "./TracesPage.module.css";

interface SetControlsProps {
  readonly set: TraceSetLink;
  readonly runs: readonly RunSummary[];
  readonly onSet: (set: TraceSetLink) => void;
}

/** Choice of requests: time, run, latency, and attribute. */
export function SetControls({ set, runs, onSet }: SetControlsProps) {
  return (
    <div className={styles.bar}>
      <TimeSelect set={set} onSet={(times) => onSet({ ...set, ...times })} />
      <RunSelect run={set.run} runs={runs} onRun={(run) => onSet({ ...set, run })} />
      <LatencySelect set={set} onSet={(percentiles) => onSet({ ...set, ...percentiles })} />
      <TagField key={set.tag} tag={set.tag} onTag={(tag) => onSet({ ...set, tag })} />
    </div>
  );
}

interface TagFieldProps {
  readonly tag: string;
  readonly onTag: (tag: string) => void;
}

/** An attribute, applied when finished. */
function TagField({ tag, onTag }: TagFieldProps) {
  const [text, setText] = useState(tag);
  const given = text.trim();
  const wrong = given !== "" && !/^[^=]+=.+$/s.test(given);
  const finish = () => {
    if (given !== tag && !wrong) onTag(given);
  };
  return (
    <label className={styles.field}>
      Attribute
      <input
        className={`text-field ${styles.attribute}`}
        value={text}
        placeholder="key=value"
        spellCheck={false}
        autoComplete="off"
        aria-invalid={wrong}
        onChange={(event) => setText(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish();
        }}
      />
    </label>
  );
}

interface RunSelectProps {
  readonly run: string;
  /** Runs, newest first. */
  readonly runs: readonly RunSummary[];
  readonly onRun: (run: string) => void;
}

/** Maximum number of runs listed; an older one may be given in the address. */
const MAX_RUNS = 100;

/** Choice of a run: requests during the run that involve its processes. */
function RunSelect({ run, runs, onRun }: RunSelectProps) {
  if (runs.length === 0 && run === "") return null;
  const shown = runs.filter(({ id }, at) => at < MAX_RUNS || id === run);
  const listed = shown.map((one) => ({
    value: one.id as string,
    label: `${one.name}, ${localDate(one.started_unix_us / 1000)}`,
  }));
  const gone = run !== "" && shown.every(({ id }) => id !== run);
  return (
    <span className={styles.run}>
      <Select
        label="Run"
        value={run}
        choices={[
          { value: "", label: "Any" },
          ...(gone ? [{ value: run, label: run }] : []),
          ...listed,
        ]}
        onChange={onRun}
      />
    </span>
  );
}

type Percentiles = Pick<TraceSetLink, "low" | "high">;

interface LatencySelectProps {
  readonly set: Percentiles;
  readonly onSet: (percentiles: Percentiles) => void;
}

/** Initial values of custom percentiles. */
const OWN: Percentiles = { low: 5, high: 95 };

/** Choice of two percentiles of the latency. */
function LatencySelect({ set, onSet }: LatencySelectProps) {
  const known = LATENCY_WINDOWS.find(({ low, high }) => low === set.low && high === set.high);
  const choices = LATENCY_WINDOWS.map(({ label }) => ({ value: label as string, label }));
  return (
    <>
      <Select
        label="Latency"
        value={known?.label ?? "own"}
        choices={[...choices, { value: "own", label: "P… to P…" }]}
        onChange={(value) => {
          const chosen = LATENCY_WINDOWS.find(({ label }) => label === value) ?? OWN;
          onSet({ low: chosen.low, high: chosen.high });
        }}
      />
      {known === undefined ? (
        <OwnFields key={`${set.low} ${set.high}`} {...{ set, onSet }} />
      ) : null}
    </>
  );
}

function OwnFields({ set, onSet }: LatencySelectProps) {
  const [low, setLow] = useState(String(set.low));
  const [high, setHigh] = useState(String(set.high));
  const wrong = !isWindow(low, high);
  const finish = () => {
    const next = { low: Number(low), high: Number(high) };
    if (!wrong && (next.low !== set.low || next.high !== set.high)) onSet(next);
  };
  const field = (label: string, value: string, change: (text: string) => void) => (
    <label className={styles.field}>
      {label}
      <input
        className="text-field"
        inputMode="decimal"
        size={4}
        value={value}
        aria-invalid={wrong}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish();
        }}
      />
    </label>
  );
  return (
    <fieldset
      className={styles.percentiles}
      aria-label="Percentiles"
      onBlur={({ currentTarget, relatedTarget }) => {
        // Moving between the two fields does not finish typing.
        if (!currentTarget.contains(relatedTarget)) finish();
      }}
    >
      {field("From P", low, setLow)}
      {field("to P", high, setHigh)}
    </fieldset>
  );
}

/** Whether these are two percentiles in ascending order. */
function isWindow(low: string, high: string): boolean {
  if (low.trim() === "" || high.trim() === "") return false;
  return Number(low) >= 0 && Number(low) < Number(high) && Number(high) <= 100;
}

type Times = Pick<TraceSetLink, "since_ms" | "until_ms">;

interface TimeSelectProps {
  readonly set: Times;
  readonly onSet: (times: Times) => void;
}

const LAST = { all: null, "15 min": 15, hour: 60, day: 1440 } as const;
type Last = keyof typeof LAST;
const LABELS: Readonly<Record<Last, string>> = {
  all: "All",
  "15 min": "Last 15 min",
  hour: "Last hour",
  day: "Last day",
};
const MINUTE_MS = 60_000;

/** Choice of the requests' start: any time, recently, or a typed window. */
export function TimeSelect({ set, onSet }: TimeSelectProps) {
  const limited = set.since_ms !== null || set.until_ms !== null;
  const names = Object.keys(LAST) as Last[];
  return (
    <>
      <Select<Last | "window">
        label="Time"
        value={limited ? "window" : "all"}
        choices={[
          ...names.map((value) => ({ value, label: LABELS[value] })),
          { value: "window", label: "From … to …" },
        ]}
        onChange={(value) => {
          const now_ms = Date.now();
          if (value === "window") {
            const hour_ms = 60 * MINUTE_MS;
            onSet({ since_ms: now_ms - hour_ms, until_ms: now_ms });
            return;
          }
          const minutes = LAST[value];
          const since_ms = minutes === null ? null : now_ms - MINUTE_MS * minutes;
          onSet({ since_ms, until_ms: null });
        }}
      />
      {limited ? (
        <>
          <MomentField
            label="From"
            at_ms={set.since_ms}
            onMoment={(since_ms) => onSet({ since_ms, until_ms: set.until_ms })}
          />
          <MomentField
            label="To"
            at_ms={set.until_ms}
            onMoment={(until_ms) => onSet({ since_ms: set.since_ms, until_ms })}
          />
        </>
      ) : null}
    </>
  );
}

/** A window of time in words. */
export function timesText({ since_ms, until_ms }: Times): string {
  if (since_ms === null && until_ms === null) return "all times";
  if (until_ms === null) return `since ${localDate(since_ms ?? 0)}`;
  if (since_ms === null) return `before ${localDate(until_ms)}`;
  return `${localDate(since_ms)}: ${localTime(since_ms)} to ${localTime(until_ms)}`;
}

interface MomentFieldProps {
  readonly label: string;
  /** Unix ms; null for no limit. */
  readonly at_ms: number | null;
  readonly onMoment: (at_ms: number | null) => void;
}

/** A moment, applied when finished; empty means no limit. */
function MomentField({ label, at_ms, onMoment }: MomentFieldProps) {
  const given = at_ms === null ? "" : localField(at_ms);
  return <Field key={given} label={label} given={given} onMoment={onMoment} />;
}

interface FieldProps {
  readonly label: string;
  readonly given: string;
  readonly onMoment: (at_ms: number | null) => void;
}

function Field({ label, given, onMoment }: FieldProps) {
  const [text, setText] = useState(given);
  const finish = () => {
    if (text !== given) onMoment(momentOfField(text));
  };
  return (
    <label className={styles.field}>
      {label}
      <input
        className="text-field"
        type="datetime-local"
        step={0.001}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish();
        }}
      />
    </label>
  );
}
