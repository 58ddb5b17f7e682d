import { type ReactNode, useState } from "react";
import { asProblem } from "../../api/http";
import { VIEW_ONLY } from "../../api/session";
import { importTraces, listEndpoints, rankOperations } from "../../api/traces";
import { localDate, utcTime } from "../../base/clock";
import { session } from "../../base/session";
import { toast } from "../../base/toasts";
import { useStore } from "../../base/useStore";
import { counted, formatValue } from "../../stream/format";
import { Button, CommandLine, PageLink } from "../../ui/Controls";
import { FileDrop } from "../../ui/FileDrop";
import { EmptyState, Notice, ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type {
  OperationEverywhere,
  Problem,
  TraceEndpoint,
  TracesImported,
  TracesReceived,
} from "../../wire/generated/models";
import { nsColumn, numberColumn, partColumn, percentColumn } from "./Columns";
import { operationName } from "./callTree";
import { endpointsQuery, type TraceSetLink, type TracesLink, tracesHref } from "./link";
import { type LinkProps, useQuery } from "./props";
import { TimeSelect } from "./SetControls";
import { Shapes } from "./Shapes";
import styles from "./TracesPage.module.css";

/** Polling interval, in ms: spans arrive continuously. */
const PERIOD_MS = 5000;

/** The operations at which requests enter. */
export function EndpointsPage({ link, onLink }: LinkProps) {
  const { value, problem, loading, refresh } = useQuery(
    listEndpoints,
    endpointsQuery(link),
    PERIOD_MS,
  );
  const locked = useStore(session)?.role === "viewer";
  const everything = link.since_ms === null && link.until_ms === null;
  return (
    <ImportTraces locked={locked} onDone={refresh}>
      {(open) => (
        <section className={styles.page} aria-busy={loading && value === null}>
          <header className={styles.head}>
            <h1>Traces</h1>
            <TimeSelect set={link} onSet={onLink} />
            <Button disabled={locked} title={locked ? VIEW_ONLY : ""} onClick={open}>
              Import…
            </Button>
          </header>
          {problem === null ? null : (
            <ProblemNotice
              problem={problem}
              actions={<Button onClick={refresh}>Try again</Button>}
            />
          )}
          {value === null ? (
            problem === null ? (
              <EmptyState title="Loading traces…" />
            ) : null
          ) : value.endpoints.length > 0 ? (
            <>
              <Endpoints endpoints={value.endpoints} link={link} />
              <EverywherePanel set={link} />
              <Received received={value.received} />
              <details className={`surface ${styles.more}`}>
                <summary>Send spans here</summary>
                <div className={styles.send}>
                  <SendSpans port={value.received.http_port} />
                </div>
              </details>
            </>
          ) : everything ? (
            <EmptyState title="No traces yet">
              <p>
                From a slow request down to the thread: traces say which operation a request waited
                for, and tidscope what its thread did meanwhile.
              </p>
              <SendSpans port={value.received.http_port} />
              <Button variant="primary" disabled={locked} onClick={open}>
                Import a file…
              </Button>
            </EmptyState>
          ) : (
            <EmptyState title="No requests within this time">
              <Button onClick={() => onLink({ since_ms: null, until_ms: null })}>
                Show all times
              </Button>
            </EmptyState>
          )}
        </section>
      )}
    </ImportTraces>
  );
}

const keyOf = (row: TraceEndpoint) => operationName(row);

interface EndpointsProps {
  readonly endpoints: readonly TraceEndpoint[];
  readonly link: TracesLink;
}

function Endpoints({ endpoints, link }: EndpointsProps) {
  const columns: readonly SortedColumn<TraceEndpoint>[] = [
    {
      id: "name",
      label: "Endpoint",
      text: true,
      value: operationName,
      cell: ({ service, operation }) => (
        <PageLink href={tracesHref({ ...link, service, operation })} title={operation}>
          <span className={styles.service}>{service}</span> {operation}
        </PageLink>
      ),
    },
    numberColumn("traces", "Requests", ({ traces }) => traces),
    percentColumn("errors", "Failed", ({ errors, traces }) => errors / Math.max(1, traces)),
    nsColumn("p50", "P50", ({ p50_ns }) => p50_ns),
    nsColumn("p95", "P95", ({ p95_ns }) => p95_ns),
    nsColumn("p99", "P99", ({ p99_ns }) => p99_ns),
    {
      id: "last",
      label: "Last",
      value: ({ last_ns }) => last_ns,
      cell: ({ last_ns }) => <time title={utcTime(last_ns / 1e6)}>{localDate(last_ns / 1e6)}</time>,
      width: 12,
    },
  ];
  return (
    <Panel title="Endpoints" note="operations at which requests enter">
      <SortedTable
        label="Endpoints"
        columns={columns}
        rows={endpoints}
        keyOf={keyOf}
        sortedBy="traces"
        first={14}
      />
    </Panel>
  );
}

/** Stored spans, and spans lost in transit. */
function Received({ received }: { readonly received: TracesReceived }) {
  const { traces, bytes, dropped, rejected, expired } = received;
  const lost = [
    dropped > 0 ? `${counted(dropped, "span")} dropped` : "",
    rejected > 0 ? `${counted(rejected, "span")} rejected` : "",
    expired > 0 ? `${counted(expired, "span")} expired` : "",
  ].filter((text) => text !== "");
  return (
    <p className={styles.hint}>
      {counted(traces, "trace")} stored, {formatValue(bytes, "bytes")}
      {lost.length === 0 ? "" : `; since start ${lost.join(", ")}`}.
    </p>
  );
}

/** Instructions for sending spans; the receiving port, or null if none is open. */
function SendSpans({ port }: { readonly port: number | null }) {
  return (
    <>
      <p data-receiver={port === null ? "off" : "on"}>
        {port === null ? (
          <>
            <strong>The receiver is off.</strong> Start tidscope with <code>--otlp-receiver</code>,
            and programs that have an OpenTelemetry SDK with these variables.
          </>
        ) : (
          <>
            Spans are received at port {port} of this machine. Start programs that have an
            OpenTelemetry SDK with these variables.
          </>
        )}{" "}
        <code>tidscope up</code> prints them with the token, which only sends spans.
      </p>
      <CommandLine what="the variables" command={exportsOf(port ?? 4318)} />
      <p>
        Or import a file: traces that Jaeger exports as JSON, or OTLP in JSON. Drop it on this page.
      </p>
    </>
  );
}

/** Commands that make an OpenTelemetry SDK send its spans to a port of this machine. */
function exportsOf(port: number): string {
  const variables = [
    `ENDPOINT=http://127.0.0.1:${port}/v1/traces`,
    "PROTOCOL=http/protobuf",
    "HEADERS=authorization=Bearer%20TOKEN",
  ];
  return variables.map((each) => `export OTEL_EXPORTER_OTLP_TRACES_${each}`).join("\n");
}

interface ImportTracesProps {
  readonly locked: boolean;
  readonly onDone: () => void;
  /** Content; receives the function that opens the file chooser. */
  readonly children: (open: () => void) => ReactNode;
}

/** Imports traces from Jaeger or OpenTelemetry files. */
function ImportTraces({ locked, onDone, children }: ImportTracesProps) {
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [rejected, setRejected] = useState<TracesImported | null>(null);
  const bring = async (files: readonly File[]) => {
    setProblem(null);
    setRejected(null);
    for (const file of files) {
      setBusy(file.name);
      try {
        const found = await importTraces(file);
        toast(`Imported ${counted(found.traces, "trace")}, ${counted(found.spans, "span")}.`);
        if (found.rejected > 0) setRejected(found);
      } catch (error) {
        setProblem(asProblem(error));
      }
    }
    setBusy("");
    onDone();
  };
  return (
    <FileDrop
      label="Traces"
      choose="Traces to import"
      accept=".json,application/json"
      hint="Drop a file of traces (Jaeger or OTLP, JSON) to import it"
      locked={locked}
      onFiles={(files) => void bring(files)}
    >
      {(open) => (
        <>
          {problem === null ? null : <ProblemNotice problem={problem} />}
          {busy === "" ? null : <Notice status="info" title={`Importing ${busy}…`} />}
          {rejected === null ? null : (
            <Notice
              status="warning"
              title={`${counted(rejected.rejected, "span was", "spans were")} not imported`}
            >
              {[...new Set(rejected.reasons)].map((reason) => (
                <p key={reason}>{reason}</p>
              ))}
            </Notice>
          )}
          {children(open)}
        </>
      )}
    </FileDrop>
  );
}

const operationKey = (row: OperationEverywhere) => operationName(row);
const COLUMNS: readonly SortedColumn<OperationEverywhere>[] = [
  { id: "name", label: "Operation", text: true, value: operationKey, cell: operationKey },
  partColumn("share", "Mean share", ({ mean_share }) => mean_share, {
    tip: "Of the time of an endpoint's critical paths, averaged over all endpoints: each counts the same, however often it is asked.",
  }),
  nsColumn("own", "Own time", ({ exclusive_ns }) => exclusive_ns, {
    tip: "On all critical paths together.",
  }),
  numberColumn("endpoints", "Endpoints", ({ endpoints }) => endpoints, {
    tip: "On whose critical paths it is.",
  }),
  numberColumn("traces", "Requests", ({ traces }) => traces, {
    tip: "On whose critical path it is.",
  }),
];

/** Waits of all endpoints' requests, computed when opened. */
function EverywherePanel({ set }: { readonly set: TraceSetLink }) {
  const [open, setOpen] = useState(false);
  return (
    <details
      className={`surface ${styles.more}`}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>Operations and requests of all endpoints</summary>
      {open ? <Everywhere set={set} /> : null}
    </details>
  );
}

function Everywhere({ set }: { readonly set: TraceSetLink }) {
  const { value, problem, refresh } = useQuery(rankOperations, endpointsQuery(set));
  if (problem !== null) {
    return (
      <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
    );
  }
  if (value === null) return <p className={styles.send}>Finding critical paths…</p>;
  const omitted =
    value.omitted === 0
      ? ""
      : ` ${counted(value.omitted, "request")} more are left out: more than one analysis holds.`;
  return (
    <>
      <p className={`${styles.hint} ${styles.send}`}>
        {counted(value.traces, "request")} of {counted(value.endpoints, "endpoint")}.{omitted}
      </p>
      <SortedTable
        label="Operations over all endpoints"
        columns={COLUMNS}
        rows={value.operations}
        keyOf={operationKey}
        sortedBy="share"
        first={14}
      />
      <Shapes shapes={value.shapes} />
    </>
  );
}
