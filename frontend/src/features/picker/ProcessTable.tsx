import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useImperativeHandle, useRef } from "react";
import { treeKeyHandler } from "../../ui/treeKeyHandler";
import { useRowNavigation } from "../../ui/useRowNavigation";
import { useStableOrder } from "../../ui/useStableOrder";
import { ProcessRow } from "./ProcessRow";
import styles from "./ProcessTable.module.css";
import type { Grouping, PickerRow } from "./rows";

const CAPTIONS: Readonly<Record<Grouping, string>> = {
  none: "Processes, busiest first",
  tree: "Processes below their parents, busiest first",
  container: "Containers and their processes, busiest first",
  unit: "systemd units and their processes, busiest first",
};

/** What the search field may ask of the table. */
export interface ProcessTableHandle {
  readonly focusFirst: () => void;
}

interface ProcessTableProps {
  readonly rows: readonly PickerRow[];
  readonly grouping: Grouping;
  /** What is being attached to, as `busyOf` names it. */
  readonly busy: string | null;
  /** A row was chosen; `all` asks for all that is below it as well. */
  readonly onPick: (row: PickerRow, all?: boolean) => void;
  /** Open or close a row. */
  readonly onTurn: (row: PickerRow) => void;
  readonly handle: Ref<ProcessTableHandle>;
}

const ROW_PX = 40;
const PAGE = 10;
const keyOf = ({ key }: PickerRow) => key;
const depthOf = ({ depth }: PickerRow) => depth;

/** Processes, and what they are part of; a press on a row attaches to it. */
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
