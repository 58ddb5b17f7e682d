import { useState } from "react";
import { Select } from "../../ui/Select";
import { LATENCY_WINDOWS, type TraceSetLink } from "./link";
import styles from "./TracesPage.module.css";

type Percentiles = Pick<TraceSetLink, "low" | "high">;

interface LatencySelectProps {
  readonly set: Percentiles;
  readonly onSet: (percentiles: Percentiles) => void;
}

/** Where one begins who wants percentiles of their own. */
const OWN: Percentiles = { low: 5, high: 95 };

/** Requests between two percentiles of the latency. */
export function LatencySelect({ set, onSet }: LatencySelectProps) {
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
        // From one field to the other, both are still being typed.
        if (!currentTarget.contains(relatedTarget)) finish();
      }}
    >
      {field("From P", low, setLow)}
      {field("to P", high, setHigh)}
    </fieldset>
  );
}

/** Whether these are two percentiles, the lower one first. */
function isWindow(low: string, high: string): boolean {
  if (low.trim() === "" || high.trim() === "") return false;
  return Number(low) >= 0 && Number(low) < Number(high) && Number(high) <= 100;
}
