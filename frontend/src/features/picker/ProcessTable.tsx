import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useImperativeHandle, useRef } from "react";
import { counted, formatTenths, formatValue, NO_VALUE } from "../../stream/format";
import { commandLine } from "../../stream/targetName";
import { Button, Twisty } from "../../ui/Controls";
import { Tooltip } from "../../ui/Overlays";
import { treeKeyHandler, useRowNavigation } from "../../ui/useRowNavigation";
import { useStableOrder } from "../../ui/useStableOrder";
import type { Process } from "../../wire/generated/models";
import { pidInside, userInside, userShown } from "../attach/inside";
import { busyOf } from "../attach/useAttach";
import styles from "./ProcessTable.module.css";
import type { Grouping, PickerRow } from "./rows";

const CAPTIONS: Readonly<Record<Grouping, string>> = {
  none: "Processes, busiest first",
  tree: "Processes below their parents, busiest first",
  container: "Containers and their processes, busiest first",
  unit: "systemd units and their processes, busiest first",
};

/** Operations of the table used by the search field. */
export interface ProcessTableHandle {
  readonly focusFirst: () => void;
}

interface ProcessTableProps {
  readonly rows: readonly PickerRow[];
  readonly grouping: Grouping;
  /** Process being attached, named by `busyOf`. */
  readonly busy: string | null;
  /** Called when a row is chosen; `all` includes its subtree. */
  readonly onPick: (row: PickerRow, all?: boolean) => void;
  /** Open or close a row. */
  readonly onTurn: (row: PickerRow) => void;
  readonly handle: Ref<ProcessTableHandle>;
}

const ROW_PX = 40;
const PAGE = 10;
const keyOf = ({ key }: PickerRow) => key;
const depthOf = ({ depth }: PickerRow) => depth;

/** Processes and their parents; a press on a row attaches to it. */
export function ProcessTable({
  grouping,
  busy,
  onPick,
  onTurn,
  handle,
  ...given
}: ProcessTableProps) {
  const root = useRef<HTMLDivElement>(null);
  const { rows, handlers } = useStableOrder(given.rows, keyOf, depthOf);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => root.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const scrollTo = useCallback((index: number) => virtual.scrollToIndex(index), [virtual]);
  const keys = useRowNavigation(root, rows.length, PAGE, scrollTo);
  useImperativeHandle(handle, () => ({ focusFirst: () => keys.focusRow(0) }), [keys.focusRow]);

  const tree = grouping !== "none";
  const onKeyDown = treeKeyHandler({
    rowAt: (index) => rows[index],
    onFold: (index) => {
      const row = rows[index];
      if (row !== undefined) {
        onTurn(row);
      }
    },
    focusRow: keys.focusRow,
    otherwise: keys.onKeyDown,
  });
  const items = virtual.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const inSight = items.some((item) => item.index === keys.active);
  const reachable = inSight ? keys.active : items[0]?.index;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div ref={root} className={`surface ${styles.scroll}`}>
      {/* aria-rowcount: rows out of sight are not in the document. */}
      <table
        className={styles.table}
        role={tree ? "treegrid" : undefined}
        aria-rowcount={rows.length + 1}
      >
        <caption className="visually-hidden">{CAPTIONS[grouping]}</caption>
        <thead>
          <tr>
            <th scope="col" className={styles.command}>
              Command
            </th>
            <th scope="col" className={styles.pid}>
              pid
            </th>
            <th scope="col" className={styles.cpu} aria-sort="descending">
              CPU <span aria-hidden="true">▼</span>
            </th>
            <th scope="col" className={styles.threads}>
              Threads
            </th>
            <th scope="col" className={`${styles.memory} ${styles.wide}`}>
              Memory
            </th>
            <th scope="col" className={`${styles.runtime} ${styles.wide}`}>
              Runtime
            </th>
            <th scope="col" className={`${styles.user} ${styles.wide}`}>
              User
            </th>
            <th scope="col" className={`${styles.ports} ${styles.wide}`}>
              Ports
            </th>
          </tr>
        </thead>
        <tbody onKeyDown={onKeyDown} {...handlers}>
          <tr style={{ height: above }} />
          {items.map((item) => {
            const row = rows[item.index];
            return row === undefined ? null : (
              <ProcessRow
                key={row.key}
                row={row}
                tree={tree}
                index={item.index}
                reachable={item.index === reachable}
                busy={busy}
                onPick={onPick}
                onTurn={onTurn}
              />
            );
          })}
          <tr style={{ height: below }} />
        </tbody>
      </table>
    </div>
  );
}

interface ProcessRowProps {
  readonly row: PickerRow;
  /** Rows have levels. */
  readonly tree: boolean;
  readonly index: number;
  /** Tab reaches this row. */
  readonly reachable: boolean;
  /** Process being attached, named by `busyOf`. */
  readonly busy: string | null;
  readonly onPick: (row: PickerRow, all?: boolean) => void;
  readonly onTurn: (row: PickerRow) => void;
}

/** A process, or a heading. Its button covers the row. */
function ProcessRow({ row, tree, index, reachable, busy, onPick, onTurn }: ProcessRowProps) {
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
              variant="quiet"
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

/** Maximum indentation level: deeper rows would leave no width for names. */
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
