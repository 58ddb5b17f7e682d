import styles from "./Select.module.css";

/** One choice of a select. */
export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly disabled?: boolean;
}

interface SelectProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
  readonly disabled?: boolean;
}

/** A native select with a label before the control. */
export function Select<T extends string>({
  label,
  value,
  choices,
  onChange,
  disabled = false,
}: SelectProps<T>) {
  const pick = (text: string) => {
    const chosen = choices.find((choice) => choice.value === text);
    if (chosen !== undefined) {
      onChange(chosen.value);
    }
  };
  return (
    <label className={styles.field}>
      <span className={styles.label}>{label}</span>
      <select
        className={styles.select}
        value={value}
        disabled={disabled}
        onChange={(event) => pick(event.target.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} disabled={choice.disabled}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  );
}
