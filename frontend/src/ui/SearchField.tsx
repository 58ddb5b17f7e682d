import styles from "./SearchField.module.css";

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What is wrong with the text; "" if nothing is. */
  readonly problem?: string;
  /** Keys that leave the field for the list below, such as the arrow down. */
  readonly onKeyDown?: (event: React.KeyboardEvent<HTMLInputElement>) => void;
}

/** The search field of a page: "/" goes to it. */
export function SearchField({
  label,
  placeholder,
  value,
  onChange,
  problem = "",
  onKeyDown,
}: SearchFieldProps) {
  return (
    <label className={styles.field}>
      <span className="visually-hidden">{label}</span>
      <input
        type="search"
        data-search
        className={`text-field ${styles.input}`}
        value={value}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={problem !== ""}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
      />
    </label>
  );
}
