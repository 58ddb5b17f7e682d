import type { RunState } from "../wire/generated/models";
import styles from "./RunStateBadge.module.css";
import { type Status, StatusIcon } from "./StatusIcon";

const SHOWN: Readonly<Record<RunState, readonly [Status, string]>> = {
  recording: ["info", "recording"],
  complete: ["ok", "complete"],
  incomplete: ["warning", "incomplete"],
  interrupted: ["warning", "interrupted"],
};

/** State of a run (complete or not) as icon and word. */
export function RunStateBadge({ state }: { readonly state: RunState }) {
  const [status, label] = SHOWN[state];
  return (
    <span className={styles.state} data-run-state={state}>
      {state === "recording" ? (
        <span className={styles.dot} aria-hidden="true" />
      ) : (
        <StatusIcon status={status} />
      )}
      {label}
    </span>
  );
}
