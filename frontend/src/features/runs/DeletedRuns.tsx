import { formatDuration, formatValue } from "../../stream/format";
import { runTargetName } from "../../stream/targetName";
import { Button } from "../../ui/Button";
import type { RunSummary } from "../../wire/generated/models";
import styles from "./CollapsedList.module.css";

interface DeletedRunsProps {
  readonly runs: readonly RunSummary[];
  readonly locked: boolean;
  readonly onRestore: (run: RunSummary) => void;
}

/** What was deleted within the hour and can be had back. */
export function DeletedRuns({ runs, locked, onRestore }: DeletedRunsProps) {
  if (runs.length === 0) {
    return null;
  }
  return (
    <details className={`surface ${styles.list}`}>
      <summary>Deleted within the last hour: {runs.length}</summary>
      <ul>
        {runs.map((run) => (
          <li key={run.id} data-deleted={run.id}>
            <span className={styles.what}>{run.name}</span>
            <span className={styles.more}>
              {runTargetName(run)}, {formatDuration(run.duration_ns / 1e9)},{" "}
              {formatValue(run.counts.bytes, "bytes")}
            </span>
            <Button
              disabled={locked}
              aria-label={`Restore ${run.name}`}
              onClick={() => onRestore(run)}
            >
              Restore
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}
