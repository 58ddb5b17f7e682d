import { formatValue } from "../../stream/format";
import styles from "./facts.module.css";

/** A share, as a bar and a number. */
export function Share({ value }: { readonly value: number }) {
  const part = Math.max(0, Math.min(1, Number.isNaN(value) ? 0 : value));
  return (
    <>
      <span className={styles.share} aria-hidden="true">
        <span style={{ width: `${100 * part}%` }} />
      </span>
      <span className={styles.percent}>{formatValue(value, "share")}</span>
    </>
  );
}
