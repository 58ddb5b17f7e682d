import { commandLine } from "../../stream/commandLine";
import { counted, formatTenths, formatValue, NO_VALUE } from "../../stream/format";
import { Button } from "../../ui/Button";
import { Tooltip } from "../../ui/Tooltip";
import { Twisty } from "../../ui/Twisty";
import type { Process } from "../../wire/generated/models";
import { pidInside, userInside, userShown } from "../attach/inside";
import { busyOf } from "../attach/useAttach";
import styles from "./ProcessTable.module.css";
import type { PickerRow } from "./rows";

interface ProcessRowProps {
  readonly row: PickerRow;
  /** Rows have levels. */
  readonly tree: boolean;
  readonly index: number;
  /** Tab reaches it. */
  readonly reachable: boolean;
  /** What is being attached to, as `busyOf` names it. */
  readonly busy: string | null;
  readonly onPick: (row: PickerRow, all?: boolean) => void;
  readonly onTurn: (row: PickerRow) => void;
}

/** A process, or a heading of some. Its button covers the row. */
export function ProcessRow({ row, tree, index, reachable, busy, onPick, onTurn }: ProcessRowProps) {
  const { process, group, figures, depth, open, label } = row;
  const refusal = process?.refusal ?? null;
  const below = figures.processes - 1;
  const name = process?.name ?? label;
  const attaching = busy !== null && busy === busyOf(process ?? { group });
  return (
    <tr
      className={refusal === null ? styles.row : `${styles.row} ${styles.refused}`}
      aria-rowindex={index + 2}
      aria-level={tree ? depth : undefined}
      aria-expanded={tree ? (open ?? undefined) : undefined}
      data-pid={process?.pid}
      data-heading={process === null ? label : undefined}
    >
      <td className={styles.command}>
        <span
          className={styles.inside}
          style={tree ? { paddingLeft: `${Math.min(depth - 1, MAX_INDENTED)}rem` } : undefined}
        >
          {tree ? <Twisty open={open} name={name} onFold={() => onTurn(row)} /> : null}
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
              aria-label={pickLabel(row)}
              aria-keyshortcuts={group !== null && process !== null ? "Shift+Enter" : undefined}
              onClick={() => onPick(row)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && event.shiftKey) {
                  event.preventDefault();
                  onPick(row, true);
                }
              }}
            >
              <span className={styles.name}>{name}</span>
            </button>{" "}
            <span className={styles.line}>
              {attaching ? "Attaching…" : process === null ? noteOf(row) : lineOf(process)}
            </span>
          </Tooltip>
          {process !== null && group !== null && below > 0 ? (
            <Button
              className={styles.whole}
              look="quiet"
              tabIndex={-1}
              aria-label={`Attach to ${name}, pid ${process.pid}, and ${counted(below, "descendant")}`}
              onClick={() => onPick(row, true)}
            >
              {busy === busyOf({ group }) ? (
                "Attaching…"
              ) : (
                <>
                  <span className={styles.long}>with {counted(below, "descendant")}</span>
                  <span className={styles.short}>+{below}</span>
                </>
              )}
            </Button>
          ) : null}
        </span>
      </td>
      <td
        className={styles.pid}
        title={process === null ? undefined : (pidInside(process) ?? undefined)}
      >
        {process?.pid ?? ""}
      </td>
      <td className={styles.cpu}>{percent(figures.cpu_percent)}</td>
      <td className={styles.threads}>{figures.threads}</td>
      <td className={`${styles.memory} ${styles.wide}`}>
        {formatValue(figures.rss_bytes ?? Number.NaN, "bytes")}
      </td>
      <td className={`${styles.runtime} ${styles.wide}`}>
        {process === null || process.runtime === "unknown" ? NO_VALUE : process.runtime}{" "}
        <span className={styles.version}>{process?.runtime_version?.replace(/^[a-z]+/i, "")}</span>
      </td>
      <td
        className={`${styles.user} ${styles.wide}`}
        title={process === null ? undefined : userInside(process)}
      >
        {process === null ? null : userShown(process)}
      </td>
      <td className={`${styles.ports} ${styles.wide}`} title={process?.ports.join(", ")}>
        {process?.ports.join(", ")}
      </td>
    </tr>
  );
}

/** Deeper rows would leave no room for their names, rem. */
const MAX_INDENTED = 8;

function pickLabel({ process, group, label, figures }: PickerRow): string {
  if (process !== null) {
    return `Attach to ${process.name}, pid ${process.pid}`;
  }
  const count = counted(figures.processes, "process", "processes");
  return group === null ? `${label}: ${count}` : `Attach to ${label}, ${count}`;
}

function noteOf({ note, figures }: PickerRow): string {
  const count = counted(figures.processes, "process", "processes");
  return note === "" ? count : `${count}, ${note}`;
}

function lineOf(process: Process): string {
  return process.refusal?.title ?? commandLine(process);
}

function percent(cpu: number | null): string {
  return formatTenths(cpu ?? Number.NaN);
}
