/** Feature `calls`: the worker's view of system calls in, a sortable table out. */

import { useRef } from "react";
import type { CallRow, CallsView } from "../../stream/calls";
import { formatDuration } from "../../stream/format";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import {
  countColumn,
  FactMessage,
  meanColumn,
  rateColumn,
  roleColumn,
  textColumn,
  threadsColumn,
  useFacts,
} from "../facts/FactColumns";

const keyOf = ({ call }: CallRow) => String(call);

function quantileColumn(id: "p50_s" | "p95_s" | "p99_s", label: string): SortedColumn<CallRow> {
  const tip = "By a histogram in powers of two: the true value is within a factor of two.";
  return meanColumn(id, (row) => row[id], { label, under: "of a call", tip });
}

const COLUMNS: readonly SortedColumn<CallRow>[] = [
  textColumn("name", "System call", ({ name }) => name),
  rateColumn("per_s", "Calls", ({ per_s }) => per_s),
  threadsColumn(
    "time",
    "Time in it",
    ({ time }) => time,
    "Thread-seconds a second, waiting included.",
  ),
  meanColumn("mean", ({ mean_s }) => mean_s),
  quantileColumn("p50_s", "p50"),
  quantileColumn("p95_s", "p95"),
  quantileColumn("p99_s", "p99"),
  countColumn("threads", "Threads", ({ threads }) => threads),
  roleColumn("Most time", ({ role }) => role),
];

/** System calls by cost. */
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
          <FactMessage view={view} />
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
