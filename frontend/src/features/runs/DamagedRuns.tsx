import type { DamagedRun } from "../../wire/generated/models";
import styles from "./CollapsedList.module.css";

/** Folders among the runs that cannot be read: they are left as they are. */
export function DamagedRuns({ damaged }: { readonly damaged: readonly DamagedRun[] }) {
  if (damaged.length === 0) {
    return null;
  }
  return (
    <details className={`surface ${styles.list}`}>
      <summary>Unreadable folders: {damaged.length}</summary>
      <p className={styles.more}>tidscope leaves them untouched.</p>
      <ul>
        {damaged.map(({ folder, reason }) => (
          <li key={folder}>
            <code className={styles.what}>{folder}</code>
            <span className={styles.more}>{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
