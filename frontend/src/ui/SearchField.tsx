import styles from "./SearchField.module.css";

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Error in the text; "" if none. */
  readonly problem?: string;
  /** Handler for keys that leave the field for the list below, such as Down. */
  readonly onKeyDown?: (event: React.KeyboardEvent<HTMLInputElement>) => void;
}

/** The search field of a page; "/" focuses it. */
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
