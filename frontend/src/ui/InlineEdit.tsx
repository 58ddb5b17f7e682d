import { type FormEvent, useState } from "react";
import { Button } from "./Controls";
import styles from "./editing.module.css";

interface InlineEditProps {
  /** Name of the text, such as "Name". */
  readonly label: string;
  readonly value: string;
  readonly maxLength: number;
  /** Shown while the text is empty. */
  readonly placeholder?: string;
  readonly disabled?: boolean;
  readonly multiline?: boolean;
  readonly onSave: (value: string) => void;
}

/** A text that becomes a field when pressed: Enter saves, Esc restores the text. */
export function InlineEdit(props: InlineEditProps) {
  const { label, value, placeholder = "", disabled = false, multiline = false } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const save = (event?: FormEvent) => {
    event?.preventDefault();
    if (draft !== null && draft.trim() !== value) {
      props.onSave(draft.trim());
    }
    setDraft(null);
  };
  if (draft === null) {
    return disabled ? (
      <span className={styles.text} data-empty={value === ""}>
        {value === "" ? placeholder : value}
      </span>
    ) : (
      <button
        type="button"
        className={`${styles.text} ${styles.edit}`}
        data-empty={value === ""}
        aria-label={`${label}: ${value === "" ? "none" : value}. Edit`}
        onClick={() => setDraft(value)}
      >
        {value === "" ? placeholder : value}
        <svg className={styles.pen} viewBox="0 0 12 12" aria-hidden="true">
          <path d="M1.5 10.5l.6-2.4 6-6 1.8 1.8-6 6zM7.2 3l1.8 1.8" />
        </svg>
      </button>
    );
  }
  const field = {
    "aria-label": label,
    value: draft,
    maxLength: props.maxLength,
    // Focus the field: the user pressed the text to edit it.
    ref: (element: HTMLInputElement | HTMLTextAreaElement | null) => {
      if (element !== null && document.activeElement !== element && draft === value) {
        element.focus();
      }
    },
    onKeyDown: (event: { key: string; stopPropagation: () => void }) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        setDraft(null);
      }
    },
  };
  return (
    <form className={styles.form} onSubmit={save}>
      {multiline ? (
        <textarea
          {...field}
          className={`text-field ${styles.area}`}
          rows={4}
          onChange={(event) => setDraft(event.target.value)}
        />
      ) : (
        <input
          {...field}
          className={`text-field ${styles.field}`}
          onChange={(event) => setDraft(event.target.value)}
        />
      )}
      <Button type="submit" variant="primary">
        Save
      </Button>
      <Button onClick={() => setDraft(null)}>Cancel</Button>
    </form>
  );
}
