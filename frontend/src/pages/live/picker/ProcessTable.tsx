import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useImperativeHandle, useRef } from "react";
import { useRowNavigation } from "../../../ui/useRowNavigation";
import { useStableOrder } from "../../../ui/useStableOrder";
import type { Process } from "../../../wire/generated/models";
import { ProcessRow } from "./ProcessRow";
import styles from "./ProcessTable.module.css";

/** What the search field may ask of the table. */
export interface ProcessTableHandle {
  readonly focusFirst: () => void;
}

interface ProcessTableProps {
  readonly processes: readonly Process[];
  /** The process that is being attached to. */
  readonly busyPid: number | null;
  readonly onPick: (process: Process) => void;
  readonly handle: Ref<ProcessTableHandle>;
}

const ROW_PX = 40;
const PAGE = 10;
const keyOf = (process: Process) => `${process.pid}@${process.start_ticks}`;

/** The processes, one a row; a press on a row attaches to it. */
export function ProcessTable({ processes, busyPid, onPick, handle }: ProcessTableProps) {
  const root = useRef<HTMLDivElement>(null);
  const { rows, handlers } = useStableOrder(processes, keyOf);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => root.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const scrollTo = useCallback((index: number) => virtual.scrollToIndex(index), [virtual]);
  const keys = useRowNavigation(root, rows.length, PAGE, scrollTo);
  useImperativeHandle(handle, () => ({ focusFirst: () => keys.focusRow(0) }), [keys.focusRow]);

  const items = virtual.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const inSight = items.some((item) => item.index === keys.active);
  const reachable = inSight ? keys.active : items[0]?.index;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div ref={root} className={`surface ${styles.scroll}`}>
      {/* aria-rowcount: rows out of sight are not in the document. */}
      <table className={styles.table} aria-rowcount={rows.length + 1}>
        <caption className="visually-hidden">Processes, busiest first</caption>
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
        <tbody onKeyDown={keys.onKeyDown} {...handlers}>
          <tr style={{ height: above }} />
          {items.map((item) => {
            const process = rows[item.index];
            return process === undefined ? null : (
              <ProcessRow
                key={keyOf(process)}
                process={process}
                index={item.index}
                reachable={item.index === reachable}
                busy={process.pid === busyPid}
                onPick={onPick}
              />
            );
          })}
          <tr style={{ height: below }} />
        </tbody>
      </table>
    </div>
  );
}
