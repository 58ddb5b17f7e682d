import { type KeyboardEvent, type RefObject, useCallback } from "react";
import { runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { SortHeader } from "../../ui/SortHeader";
import { useRowNavigation } from "../../ui/useRowNavigation";
import type { RunSummary } from "../../wire/generated/models";
import { RunRow } from "./RunRow";
import styles from "./RunsTable.module.css";
import type { Order, RunSort } from "./runList";

interface RunsTableProps {
  readonly root: RefObject<HTMLDivElement | null>;
  readonly runs: readonly RunSummary[];
  readonly order: Order;
  readonly chosen: ReadonlySet<string>;
  readonly locked: boolean;
  readonly onOrder: (order: Order) => void;
  readonly onChoose: (id: string, on: boolean) => void;
  readonly onChange: () => void;
  readonly onDelete: (run: RunSummary) => void;
}

const PAGE = 10;
const COLUMNS: readonly (readonly [RunSort, string, "text" | "number"])[] = [
  ["name", "Run", "text"],
  ["process", "Process", "text"],
  ["started", "Recorded", "text"],
  ["duration", "Length", "number"],
  ["threads", "Threads", "number"],
  ["size", "Size", "number"],
  ["host", "Host", "text"],
  ["state", "State", "text"],
];

/** The runs, one a row; a press on a name opens it. */
export function RunsTable(props: RunsTableProps) {
  const { root, runs, order, chosen } = props;
  const scrollTo = useCallback(
    (index: number) => {
      root.current?.querySelector(`[data-row="${index}"]`)?.scrollIntoView({ block: "nearest" });
    },
    [root],
  );
  const keys = useRowNavigation(root, runs.length, PAGE, scrollTo);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.row : undefined;
    const run = at === undefined ? undefined : runs[Number(at)];
    if (run !== undefined && event.key === "Enter") {
      event.preventDefault();
      navigate(runHref(run.id));
    } else if (run !== undefined && event.key === "x") {
      event.preventDefault();
      props.onChoose(run.id, !chosen.has(run.id));
    } else {
      keys.onKeyDown(event);
    }
  };
  return (
    <div ref={root} className="surface">
      <table className={styles.table}>
        <caption className="visually-hidden">Runs</caption>
        <thead>
          <tr>
            <th scope="col" className={styles.choose}>
              <span className="visually-hidden">Compare</span>
            </th>
            {COLUMNS.map(([by, label, kind]) => (
              <SortHeader
                key={by}
                className={styles[by]}
                label={label}
                numeric={kind === "number"}
                sorted={order.by !== by ? null : order.descending ? "descending" : "ascending"}
                onSort={() =>
                  props.onOrder({
                    by,
                    descending:
                      order.by === by ? !order.descending : kind === "number" || by === "started",
                  })
                }
              />
            ))}
            <th scope="col" className={styles.actions}>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody onKeyDown={onKeyDown}>
          {runs.map((run, index) => (
            <RunRow
              key={run.id}
              run={run}
              index={index}
              reachable={index === keys.active}
              chosen={chosen.has(run.id)}
              locked={props.locked}
              onChoose={props.onChoose}
              onChange={props.onChange}
              onDelete={props.onDelete}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
