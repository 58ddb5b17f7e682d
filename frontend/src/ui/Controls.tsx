import {
  type AnchorHTMLAttributes,
  type ButtonHTMLAttributes,
  type MouseEvent,
  useEffect,
  useId,
  useState,
} from "react";
import { navigate } from "../base/routing";
import styles from "./Controls.module.css";

/** Small controls: buttons, links, choices and fields. */

interface CopyButtonProps {
  readonly text: string;
  /** Noun for the text, used in the accessible name. */
  readonly what: string;
  readonly label?: string;
}

/** Button that copies a text to the clipboard and confirms it. */
export function CopyButton({ text, what, label = "Copy" }: CopyButtonProps) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = window.setTimeout(() => setSaid(""), 2000);
    return () => window.clearTimeout(timer);
  });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      // No clipboard outside secure contexts: the user can select the text beside this button.
      setSaid("Select the text");
    }
  };
  return (
    <Button onClick={() => void copy()} aria-label={`Copy ${what}`}>
      <span aria-live="polite" style={{ minWidth: "4.25em" }}>
        {said || label}
      </span>
    </Button>
  );
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** primary: the main action here; quiet: without a frame. */
  readonly variant?: "plain" | "primary" | "quiet";
}

export function Button({ variant = "plain", className = "", ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`${styles.button} ${styles[variant] ?? ""} ${className}`}
      {...rest}
    />
  );
}

/** A command to type, with a button to copy the command. */
export function CommandLine({
  command,
  what,
}: {
  readonly command: string;
  readonly what: string;
}) {
  return (
    <div className={styles.commandLine}>
      <code className={styles.command}>{command}</code>
      <CopyButton text={command} what={what} />
    </div>
  );
}

interface TwistyProps {
  /** Null if the row has no children; the space is kept. */
  readonly open: boolean | null;
  readonly name: string;
  readonly onFold: (fold: boolean) => void;
}

/** Button that opens and closes a row of a tree. Arrow keys do the same, so Tab skips it. */
export function Twisty({ open, name, onFold }: TwistyProps) {
  if (open === null) {
    return <span className={styles.twisty} />;
  }
  return (
    <button
      type="button"
      className={styles.twisty}
      tabIndex={-1}
      aria-expanded={open}
      aria-label={`${open ? "Fold" : "Unfold"} ${name}`}
      onClick={() => onFold(open)}
    >
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={open ? "M1 3h8L5 8z" : "M3 1l5 4-5 4z"} />
      </svg>
    </button>
  );
}

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
    <label className={styles.searchField}>
      <span className="visually-hidden">{label}</span>
      <input
        type="search"
        data-search
        className={`text-field ${styles.searchInput}`}
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
    <label className={styles.selectField}>
      <span className={styles.selectLabel}>{label}</span>
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
    <fieldset className={styles.choices}>
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

interface CheckboxProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}

export function Checkbox({ label, checked, onChange, disabled = false }: CheckboxProps) {
  return (
    <label className="toggle">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}

interface PageLinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly href: string;
}

/** A link within this page: no reload, and still a link to copy or to open in another tab. */
export function PageLink({ href, ...rest }: PageLinkProps) {
  const go = (event: MouseEvent) => {
    if (!event.metaKey && !event.ctrlKey && !event.shiftKey) {
      event.preventDefault();
      navigate(href);
    }
  };
  return <a href={href} onClick={go} {...rest} />;
}
