import { useState } from "react";
import { localDate, localField, localTime, momentOfField } from "../../base/clock";
import { Select } from "../../ui/Select";
import type { TraceSetLink } from "./link";
import styles from "./TracesPage.module.css";

export type Times = Pick<TraceSetLink, "since_ms" | "until_ms">;

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

/** When requests began: all times, the last ones, or a window that is typed in. */
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
  /** Unix ms; null: no limit. */
  readonly at_ms: number | null;
  readonly onMoment: (at_ms: number | null) => void;
}

/** A moment, taken over when it is finished; an empty one is no limit. */
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
