import { useState } from "react";
import { Select } from "../../ui/Select";
import { LATENCY_WINDOWS, type TraceSetLink, windowText } from "./link";
import { TimeSelect } from "./TimeSelect";
import styles from "./TracesPage.module.css";

interface SetControlsProps {
  readonly set: TraceSetLink;
  readonly onSet: (set: TraceSetLink) => void;
}

/** Which requests: when, how slow, and with which attribute. */
export function SetControls({ set, onSet }: SetControlsProps) {
  const here = `${set.low}-${set.high}`;
  const windows = LATENCY_WINDOWS.map(({ low, high, label }) => ({
    value: `${low}-${high}`,
    label: label.includes("–") ? `P${label}` : label,
  }));
  const known = windows.some(({ value }) => value === here);
  return (
    <div className={styles.bar}>
      <TimeSelect set={set} onSet={(times) => onSet({ ...set, ...times })} />
      <Select
        label="Latency"
        value={here}
        choices={known ? windows : [...windows, { value: here, label: windowText(set) }]}
        onChange={(value) => {
          const [low = 0, high = 100] = value.split("-").map(Number);
          onSet({ ...set, low, high });
        }}
      />
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
    <label className={styles.tag}>
      Attribute
      <input
        className="text-field"
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
