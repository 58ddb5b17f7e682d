import { useId } from "react";
import type { Field } from "./draft";
import styles from "./SteerPanel.module.css";

interface NumberFieldProps {
  readonly label: string;
  readonly unit: string;
  /** Explanation, and bounds. */
  readonly help: string;
  readonly field: Field;
  readonly placeholder?: string;
  readonly disabled: boolean;
  readonly onChange: (text: string) => void;
}

/** A number field with unit, explanation, and error. */
export function NumberField({
  label,
  unit,
  help,
  field,
  placeholder = "",
  disabled,
  onChange,
}: NumberFieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <span className={styles.entry}>
        <input
          id={id}
          className={`text-field ${styles.input}`}
          inputMode="decimal"
          autoComplete="off"
          value={field.text}
          placeholder={placeholder}
          disabled={disabled}
          aria-invalid={field.wrong !== ""}
          aria-describedby={`${id}-help`}
          onChange={(event) => onChange(event.target.value)}
        />
        <span className={styles.unit}>{unit}</span>
      </span>
      <span id={`${id}-help`} className={field.wrong === "" ? styles.help : styles.wrong}>
        {field.wrong === "" ? help : `${field.wrong} ${help}`}
      </span>
    </div>
  );
}
