import { useState } from "react";
import { listTraces } from "../../api/traces";
import { localDate, preciseTime, utcTime } from "../../base/clock";
import { traceHref } from "../../base/route";
import { operationName } from "../../model/traces/callTree";
import { Button } from "../../ui/Button";
import { PageLink } from "../../ui/PageLink";
import { Panel } from "../../ui/Panel";
import { ProblemNotice } from "../../ui/ProblemNotice";
import { SegmentedControl } from "../../ui/SegmentedControl";
import type { TraceSummary } from "../../wire/generated/models";
import { SortedTable } from "../live/scope/facts/SortedTable";
import type { SortedColumn } from "../live/scope/facts/sortedColumn";
import { nsColumn, numberColumn } from "./Columns";
import { requestsQuery } from "./link";
import type { LinkProps } from "./props";
import styles from "./TracesPage.module.css";
import { useQuery } from "./useQuery";

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

/** Requests one by one. */
export function RequestsPanel({ link }: LinkProps) {
  const [order, setOrder] = useState<"slowest" | "recent">("slowest");
  const { value, problem, loading, refresh } = useQuery(listTraces, requestsQuery(link, order));
  return (
    <Panel
      title="Requests"
      aria-busy={loading}
      controls={
        <SegmentedControl
          label="Which requests"
          value={order}
          choices={[
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
            columns={COLUMNS}
            rows={value?.traces ?? []}
            keyOf={keyOf}
            sortedBy={order === "recent" ? "start" : "duration"}
            first={13}
            none={loading ? "Loading…" : "No requests."}
          />
        </div>
      </div>
    </Panel>
  );
}
