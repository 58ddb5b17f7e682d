import { localDate, utcTime } from "../../base/clock";
import { counted } from "../../stream/format";
import { SegmentedControl } from "../../ui/Controls";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type {
  ErrorPath,
  TraceAnalysis,
  TraceAnomaly,
  TraceOperation,
} from "../../wire/generated/models";
import { nsColumn, numberColumn, traceColumn } from "./Columns";
import { operationName } from "./callTree";
import { ALL_TRACES, type TraceSetLink } from "./link";
import type { AnalysisProps } from "./props";
import { SetControls } from "./SetControls";
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

const HOUR_MS = 3_600_000;
const anomalyKey = ({ trace_id }: TraceAnomaly) => trace_id;
const KINDS: Readonly<Record<TraceAnomaly["kind"], string>> = {
  unseen: "a call hardly any reference request makes",
  missing: "lacks a call nearly all make",
  failed: "fails where hardly any does",
  repeated: "made more often than in the reference",
  reordered: "calls in another order",
  improbable: "times or calls unlike the reference",
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
    cell: ({ kind }) => KINDS[kind],
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
    width: 12,
  },
  traceColumn(({ trace_id }) => trace_id),
];

/** Calls that made requests fail, and anomalous requests. */
export function ErrorsPanel(props: AnalysisProps) {
  const { analysis } = props;
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
      <AnomaliesPanel {...props} />
    </>
  );
}

/** Requests that differ from their set, or from an earlier one. */
function AnomaliesPanel({ analysis, runs, link, onLink }: AnalysisProps) {
  const { reference } = link;
  const before: TraceSetLink = { ...ALL_TRACES, until_ms: link.since_ms ?? Date.now() - HOUR_MS };
  return (
    <Panel
      title="Unlike the others"
      note="requests whose calls or times stand out"
      controls={
        <SegmentedControl
          label="Compared with"
          value={reference === null ? "own" : "earlier"}
          choices={[
            { value: "own", label: "Among these" },
            { value: "earlier", label: "Against an earlier set" },
          ]}
          onChange={(value) => onLink({ reference: value === "own" ? null : before })}
        />
      }
    >
      <div className={styles.body}>
        {reference === null ? null : (
          <section aria-label="Reference">
            <SetControls set={reference} runs={runs} onSet={(set) => onLink({ reference: set })} />
          </section>
        )}
        <p className={styles.hint}>{referenceText(analysis, reference !== null)}</p>
        <div className={styles.table}>
          <SortedTable
            label="Unlike the others"
            columns={ANOMALIES}
            rows={analysis.anomalies}
            keyOf={anomalyKey}
            sortedBy="score"
            first={14}
            none={analysis.reference === 0 ? "Not known." : "No request stands out."}
          />
        </div>
      </div>
    </Panel>
  );
}

function referenceText({ reference, traces }: TraceAnalysis, earlier: boolean): string {
  if (reference === 0) {
    const set = earlier ? "The earlier set" : "This set";
    return `${set} has fewer than 30 requests, too few for a reference.`;
  }
  const known = counted(reference, "request");
  return earlier
    ? `The reference is taken from ${known} of the earlier set; ${counted(traces, "request")} compared with it.`
    : `Each of ${known} is compared with all of them.`;
}
