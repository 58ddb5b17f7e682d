import { useState } from "react";
import { listTraces } from "../../api/traces";
import { localDate, preciseTime, utcTime } from "../../base/clock";
import { traceHref } from "../../base/route";
import { Button, PageLink, SegmentedControl } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { TraceSummary } from "../../wire/generated/models";
import { nsColumn, numberColumn } from "./Columns";
import { operationName } from "./callTree";
import { type RequestOrder, requestsQuery } from "./link";
import { type LinkProps, useQuery } from "./props";
import styles from "./TracesPage.module.css";

const keyOf = ({ trace_id }: TraceSummary) => trace_id;
const COLUMNS: readonly SortedColumn<TraceSummary>[] = [
  {
    id: "start",
    label: "Began",
    value: ({ start_ns }) => start_ns,
    cell: ({ trace_id, start_ns }) => (
      <PageLink href={traceHref(trace_id)} title={utcTime(start_ns / 1e6)}>
        {localDate(start_ns / 1e6).split(",")[0]}, {preciseTime(start_ns / 1e6)}
      </PageLink>
    ),
  },
  nsColumn("duration", "Duration", ({ duration_ns }) => duration_ns),
  {
    id: "name",
    label: "Endpoint",
    text: true,
    value: operationName,
    cell: (row) => <span title={operationName(row)}>{operationName(row)}</span>,
    width: 20,
  },
  numberColumn("spans", "Spans", ({ spans }) => spans),
  numberColumn("services", "Services", ({ services }) => services),
  numberColumn("errors", "Errors", ({ errors }) => errors, { tip: "Spans that failed." }),
];

const ON_PATH = nsColumn<TraceSummary>(
  "path",
  "Waited for it",
  ({ on_path_ns }) => on_path_ns ?? 0,
  {
    tip: "How long the request waited for it, and for nothing that it had called, in this window.",
    width: 7,
  },
);
const OF_THREAD = [...COLUMNS.slice(0, 1), ON_PATH, ...COLUMNS.slice(1)];
const SORTED_BY = { recent: "start", slowest: "duration", path: "path" } as const;

/** List of requests; requests of a thread or process are sorted by their wait for it. */
export function RequestsPanel({ link }: LinkProps) {
  const ofThread = link.pid !== null || link.tid !== null;
  const [order, setOrder] = useState<RequestOrder>(ofThread ? "path" : "slowest");
  const { value, problem, loading, refresh } = useQuery(listTraces, requestsQuery(link, order));
  return (
    <Panel
      title="Requests"
      aria-busy={loading}
      controls={
        <SegmentedControl<RequestOrder>
          label="Which requests"
          value={order}
          choices={[
            ...(ofThread ? [{ value: "path" as const, label: "On the path" }] : []),
            { value: "slowest", label: "Slowest" },
            { value: "recent", label: "Most recent" },
          ]}
          onChange={setOrder}
        />
      }
    >
      <div className={styles.body}>
        {problem === null ? null : (
          <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
        )}
        <div className={styles.table}>
          <SortedTable
            key={order}
            label="Requests"
            columns={order === "path" ? OF_THREAD : COLUMNS}
            rows={value?.traces ?? []}
            keyOf={keyOf}
            sortedBy={SORTED_BY[order]}
            first={13}
            none={loading ? "Loading…" : "No requests."}
          />
        </div>
      </div>
    </Panel>
  );
}
