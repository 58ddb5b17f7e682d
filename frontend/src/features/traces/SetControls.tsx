import { useState } from "react";
import type { RunSummary } from "../../wire/generated/models";
import { LatencySelect } from "./LatencySelect";
import type { TraceSetLink } from "./link";
import { RunSelect } from "./RunSelect";
import { TimeSelect } from "./TimeSelect";
import styles from "./TracesPage.module.css";

interface SetControlsProps {
  readonly set: TraceSetLink;
  readonly runs: readonly RunSummary[];
  readonly onSet: (set: TraceSetLink) => void;
}

/** Which requests: when, of which run, how slow, and with which attribute. */
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

/** An attribute, taken over when it is finished. */
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
