import { elapsedText } from "../base/clock";
import { useNow } from "../base/useStore";
import styles from "./RecordingDot.module.css";

/** A red dot with the recording time so far. */
export function RecordingDot({ since_unix_us }: { readonly since_unix_us: number }) {
  const now = useNow(1000);
  return (
    <span className={styles.recording}>
      <span className={styles.dot} aria-hidden="true" />
      <span className="visually-hidden">Recording for</span>
      <span className={styles.time}>{elapsedText((now - since_unix_us / 1000) / 1000)}</span>
    </span>
  );
}
