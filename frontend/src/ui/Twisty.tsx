import styles from "./Twisty.module.css";

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
