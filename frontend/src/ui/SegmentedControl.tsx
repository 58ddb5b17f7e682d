import { useId } from "react";
import styles from "./SegmentedControl.module.css";
import type { Choice } from "./Select";

interface SegmentedControlProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
}

/** One of a few choices, all visible. */
export function SegmentedControl<T extends string>({
  label,
  value,
  choices,
  onChange,
}: SegmentedControlProps<T>) {
  const name = useId();
  return (
    <fieldset className={styles.group}>
      <legend className="visually-hidden">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} className={styles.choice}>
          <input
            type="radio"
            className="visually-hidden"
            name={name}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          <span className={styles.face}>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
