import { fieldLabel } from "../../stream/format";
import { ESTIMATE_NOTE } from "../../stream/power";
import type { SortColumn, TableRequest } from "../../stream/viewRequest";
import { SortHeader } from "../../ui/SortHeader";
import type { SampleSource } from "../../wire/generated/models";
import { type Column, explain, isSortedBy, unitOf } from "./columns";
import styles from "./ThreadTable.module.css";

interface TableHeadProps {
  readonly columns: readonly Column[];
  readonly request: TableRequest;
  readonly source: SampleSource;
  /** Whether there is a column with the estimate of power. */
  readonly power: boolean;
  readonly onSort: (sort: SortColumn) => void;
}

const NAME_HEADS = { thread: "Name", role: "Role", process: "Process, role, thread" } as const;
const ID_HEADS = { thread: "tid", role: "Threads", process: "pid, tid" } as const;

/** The heads of the columns; each sorts, and explains itself. */
export function TableHead({ columns, request, source, power, onSort }: TableHeadProps) {
  const direction = request.descending ? "descending" : "ascending";
  const own = (by: "tid" | "name" | "state" | "age") => (request.sort.by === by ? direction : null);
  const { group } = request;
  return (
    <thead className={styles.head}>
      <tr>
        <SortHeader
          className={styles.name}
          label={NAME_HEADS[group]}
          sorted={own("name")}
          onSort={() => onSort({ by: "name" })}
        />
        <SortHeader
          className={styles.tid}
          label={ID_HEADS[group]}
          sorted={own("tid")}
          numeric
          onSort={() => onSort({ by: "tid" })}
        />
        <SortHeader
          className={styles.state}
          label="State"
          tip="live: counters changed recently. idle: alive, no change. exited: the thread has ended."
          sorted={own("state")}
          onSort={() => onSort({ by: "state" })}
        />
        <SortHeader
          className={styles.age}
          label="Age"
          tip="Time since the thread started, or its lifetime if it has exited."
          sorted={own("age")}
          numeric
          onSort={() => onSort({ by: "age" })}
        />
        <th scope="col" className={styles.spark}>
          <span className={styles.sparkLabel}>
            {fieldLabel(request.spark_field)}
            <small>recent</small>
          </span>
        </th>
        {power ? (
          <SortHeader
            className={styles.number}
            label="Power"
            under="W, estimate"
            tip={ESTIMATE_NOTE}
            sorted={null}
            numeric
            onSort={() => onSort({ by: "rate", field: "cpu_run_ns" })}
          />
        ) : null}
        {columns.map((column) => (
          <SortHeader
            key={column.id}
            className={styles.number}
            label={column.field.label}
            under={unitOf(column)}
            tip={explain(column.field, source)}
            sorted={isSortedBy(request.sort, column) ? direction : null}
            numeric
            onSort={() => onSort({ by: column.shown, field: column.field.name })}
          />
        ))}
      </tr>
    </thead>
  );
}
