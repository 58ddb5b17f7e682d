import type { RunState } from "../wire/generated/models";
import { Mark, type MarkKind } from "./Mark";
import styles from "./RunStateMark.module.css";

const SHOWN: Readonly<Record<RunState, readonly [MarkKind, string]>> = {
  recording: ["plain", "recording"],
  complete: ["good", "complete"],
  interrupted: ["fair", "cut short"],
};

/** Whether a run is whole, by sign and word. */
export function RunStateMark({ state }: { readonly state: RunState }) {
  const [kind, word] = SHOWN[state];
  return (
    <span className={styles.state} data-run-state={state}>
      {state === "recording" ? (
        <span className={styles.dot} aria-hidden="true" />
      ) : (
        <Mark kind={kind} />
      )}
      {word}
    </span>
  );
}
