import { useState } from "react";
import { localField, momentOfField } from "../../base/clock";
import styles from "./TracesPage.module.css";

interface MomentFieldProps {
  readonly label: string;
  /** Unix ms; null: no limit. */
  readonly at_ms: number | null;
  readonly onMoment: (at_ms: number | null) => void;
}

/** A moment, taken over when it is finished; an empty one is no limit. */
export function MomentField({ label, at_ms, onMoment }: MomentFieldProps) {
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
