import { useRef } from "react";
import type { CallRow, CallsView } from "../../../../model/calls";
import { formatDuration, formatNumber, formatValue } from "../../../../model/format";
import { CommandLine } from "../../../../ui/CommandLine";
import { Panel } from "../../../../ui/Panel";
import styles from "./facts.module.css";
import { type SortedColumn, SortedTable } from "./SortedTable";
import { useFacts } from "./useFacts";

const keyOf = ({ call }: CallRow) => String(call);

function quantileColumn(id: "p50_s" | "p95_s" | "p99_s", label: string): SortedColumn<CallRow> {
  return {
    id,
    label,
    under: "of a call",
    tip: "By a histogram in powers of two: the true value is within a factor of two.",
    width: 5,
    value: (row) => row[id],
    cell: (row) => formatValue(row[id], "s"),
  };
}

const COLUMNS: readonly SortedColumn<CallRow>[] = [
  {
    id: "name",
    label: "System call",
    text: true,
    value: ({ name }) => name,
    cell: ({ name }) => name,
  },
  {
    id: "per_s",
    label: "Calls",
    under: "per second",
    width: 6.5,
    value: ({ per_s }) => per_s,
    cell: ({ per_s }) => formatNumber(per_s, "1/s"),
  },
  {
    id: "time",
    label: "Time in it",
    under: "s a second",
    tip: "Thread-seconds a second, waiting included.",
    width: 6.5,
    value: ({ time }) => time,
    cell: ({ time }) => formatNumber(time, "s"),
  },
  {
    id: "mean",
    label: "Each",
    under: "mean",
    width: 5,
    value: ({ mean_s }) => mean_s,
    cell: ({ mean_s }) => formatValue(mean_s, "s"),
  },
  quantileColumn("p50_s", "p50"),
  quantileColumn("p95_s", "p95"),
  quantileColumn("p99_s", "p99"),
  {
    id: "threads",
    label: "Threads",
    width: 5,
    value: ({ threads }) => threads,
    cell: ({ threads }) => threads,
  },
  {
    id: "role",
    label: "Most time",
    under: "role",
    text: true,
    width: 9,
    value: ({ role }) => role,
    cell: ({ role }) => <span title={role}>{role}</span>,
  },
];

/** System calls, where counting them is switched on. */
export function CallsPanel() {
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("calls", place);
  return (
    <Panel title="System calls" note={noteOf(view)} data-panel="calls">
      <div ref={place} data-state={view?.state ?? "waiting"}>
        {view?.state === "ok" ? (
          <SortedTable
            label="System calls"
            columns={COLUMNS}
            rows={view.rows}
            keyOf={keyOf}
            sortedBy="time"
            first={9}
            none="No system call ended."
          />
        ) : (
          <Empty view={view} />
        )}
      </div>
    </Panel>
  );
}

function noteOf(view: CallsView | null): string {
  return view?.state === "ok"
    ? `by call, mean over ${formatDuration(view.seconds)}`
    : "count and time by call";
}

function Empty({ view }: { readonly view: CallsView | null }) {
  if (view?.state !== "absent") {
    return <p className={styles.message}>Waiting for two readings…</p>;
  }
  return (
    <div className={styles.message}>
      <p>{view.reason}. It costs more than the rest of the ledger. To switch it on:</p>
      <CommandLine command="tidscope up --calls" what="command" />
    </div>
  );
}
