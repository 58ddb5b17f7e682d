import { VIEW_ONLY } from "../../api/session";
import { listEndpoints } from "../../api/traces";
import { localDate, utcTime } from "../../base/clock";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import { counted, formatValue } from "../../stream/format";
import { Button } from "../../ui/Button";
import { EmptyState } from "../../ui/EmptyState";
import { PageLink } from "../../ui/PageLink";
import { Panel } from "../../ui/Panel";
import { ProblemNotice } from "../../ui/ProblemNotice";
import { SortedTable } from "../../ui/SortedTable";
import type { SortedColumn } from "../../ui/sortedColumn";
import type { TraceEndpoint, TracesReceived } from "../../wire/generated/models";
import { nsColumn, numberColumn, percentColumn } from "./Columns";
import { operationName } from "./callTree";
import { EverywherePanel } from "./EverywherePanel";
import { ImportTraces } from "./ImportTraces";
import { endpointsQuery, type TracesLink, tracesHref } from "./link";
import type { LinkProps } from "./props";
import { SendSpans } from "./SendSpans";
import { TimeSelect } from "./TimeSelect";
import styles from "./TracesPage.module.css";
import { useQuery } from "./useQuery";

/** Spans come in all the time. */
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
              <Button look="primary" disabled={locked} onClick={open}>
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

/** What is stored, and what was lost on the way. */
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
