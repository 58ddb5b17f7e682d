import { localDate, utcTime } from "../../base/clock";
import { operationName } from "../../model/traces/callTree";
import { Panel } from "../../ui/Panel";
import type { ErrorPath, TraceAnomaly, TraceOperation } from "../../wire/generated/models";
import { SortedTable } from "../live/scope/facts/SortedTable";
import type { SortedColumn } from "../live/scope/facts/sortedColumn";
import { nsColumn, numberColumn, traceColumn } from "./Columns";
import type { AnalysisProps } from "./props";
import styles from "./TracesPage.module.css";

const chainText = (chain: readonly TraceOperation[]) => chain.map(operationName).join(" › ");

const errorKey = ({ path }: ErrorPath) => chainText(path);
const ERRORS: readonly SortedColumn<ErrorPath>[] = [
  {
    id: "cause",
    label: "First that failed",
    text: true,
    value: ({ path }) => path.map(operationName).at(-1) ?? "",
    cell: ({ path }) => path.map(operationName).at(-1) ?? "",
  },
  numberColumn("depth", "Depth", ({ path }) => path.length),
  numberColumn("count", "Requests", ({ count }) => count),
  traceColumn(({ exemplar }) => exemplar, { label: "One of them" }),
  {
    id: "path",
    label: "Failing calls",
    text: true,
    value: errorKey,
    cell: (row) => <span title={errorKey(row)}>{errorKey(row)}</span>,
    width: 34,
  },
];

const anomalyKey = ({ trace_id }: TraceAnomaly) => trace_id;
const KINDS: Readonly<Record<string, string>> = {
  unseen: "a chain no other request has",
  improbable: "times unlike the others'",
};
const ANOMALIES: readonly SortedColumn<TraceAnomaly>[] = [
  {
    id: "chain",
    label: "Stands out",
    text: true,
    value: ({ chain }) => chainText(chain),
    cell: ({ chain }) => (
      <span title={chainText(chain)}>{chain.map(operationName).at(-1) ?? ""}</span>
    ),
  },
  {
    id: "kind",
    label: "Why",
    text: true,
    value: ({ kind }) => kind,
    cell: ({ kind }) => KINDS[kind] ?? kind,
    width: 14,
  },
  {
    id: "score",
    label: "Score",
    value: ({ score }) => score,
    cell: ({ score }) => score.toPrecision(3),
    width: 5,
  },
  nsColumn("duration", "Duration", ({ duration_ns }) => duration_ns),
  {
    id: "start",
    label: "Began",
    value: ({ start_ns }) => start_ns,
    cell: ({ start_ns }) => (
      <time title={utcTime(start_ns / 1e6)}>{localDate(start_ns / 1e6)}</time>
    ),
    width: 10,
  },
  traceColumn(({ trace_id }) => trace_id),
];

/** Which call made requests fail, and which requests are unlike the others. */
export function ErrorsPanel({ analysis }: AnalysisProps) {
  return (
    <>
      <Panel title="Errors" note="the failing call that lies deepest made the request fail">
        <div className={styles.body}>
          <div className={styles.table}>
            <SortedTable
              label="Errors"
              columns={ERRORS}
              rows={analysis.errors}
              keyOf={errorKey}
              sortedBy="count"
              first={14}
              none="No request failed."
            />
          </div>
        </div>
      </Panel>
      <Panel title="Unlike the others" note="critical paths that stand out among this endpoint's">
        <div className={styles.body}>
          <div className={styles.table}>
            <SortedTable
              label="Unlike the others"
              columns={ANOMALIES}
              rows={analysis.anomalies}
              keyOf={anomalyKey}
              sortedBy="score"
              first={14}
              none="No request stands out."
            />
          </div>
        </div>
      </Panel>
    </>
  );
}
