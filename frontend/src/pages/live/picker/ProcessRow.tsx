import { commandLine } from "../../../model/commandLine";
import { formatValue, NO_VALUE } from "../../../model/format";
import { Tooltip } from "../../../ui/Tooltip";
import type { Process } from "../../../wire/generated/models";
import styles from "./ProcessTable.module.css";

interface ProcessRowProps {
  readonly process: Process;
  readonly index: number;
  /** Tab goes to it. */
  readonly reachable: boolean;
  readonly busy: boolean;
  readonly onPick: (process: Process) => void;
}

/** One process. Its button covers the whole row. */
export function ProcessRow({ process, index, reachable, busy, onPick }: ProcessRowProps) {
  const { refusal } = process;
  const runtime = process.runtime === "unknown" ? NO_VALUE : process.runtime;
  return (
    <tr
      className={refusal === null ? styles.row : `${styles.row} ${styles.refused}`}
      aria-rowindex={index + 2}
      data-pid={process.pid}
    >
      <td className={styles.command}>
        <Tooltip
          className={styles.tip}
          text={refusal === null ? null : `${refusal.detail} ${refusal.hint}`}
        >
          <button
            type="button"
            className={styles.pick}
            data-row={index}
            tabIndex={reachable ? 0 : -1}
            aria-disabled={refusal !== null}
            aria-label={`Attach to ${process.name}, pid ${process.pid}`}
            onClick={() => onPick(process)}
          >
            <span className={styles.name}>{process.name}</span>
            <span className={styles.line}>
              {busy ? "Attaching…" : (refusal?.title ?? commandLine(process))}
            </span>
          </button>
        </Tooltip>
      </td>
      <td className={styles.pid}>{process.pid}</td>
      <td className={styles.cpu}>{percent(process.cpu_percent)}</td>
      <td className={styles.threads}>{process.threads}</td>
      <td className={`${styles.memory} ${styles.wide}`}>
        {formatValue(process.rss_bytes ?? Number.NaN, "bytes")}
      </td>
      <td className={`${styles.runtime} ${styles.wide}`}>
        {runtime}{" "}
        <span className={styles.version}>{process.runtime_version?.replace(/^[a-z]+/i, "")}</span>
      </td>
      <td className={`${styles.user} ${styles.wide}`}>{process.user}</td>
      <td className={`${styles.ports} ${styles.wide}`} title={process.ports.join(", ")}>
        {process.ports.join(", ")}
      </td>
    </tr>
  );
}

function percent(cpu: number | null): string {
  return cpu === null ? NO_VALUE : `${cpu.toFixed(cpu < 99.95 ? 1 : 0)} %`;
}
