import styles from "./facts.module.css";

interface FactMessageProps {
  /** What there is instead of a table; null: nothing yet. */
  readonly view: { readonly state: string; readonly reason: string } | null;
}

/** Why there is no table: it cannot be, or two readings are not there yet. */
export function FactMessage({ view }: FactMessageProps) {
  return (
    <p className={styles.message}>
      {view?.state === "absent" ? `${view.reason}.` : "Waiting for two readings…"}
    </p>
  );
}
