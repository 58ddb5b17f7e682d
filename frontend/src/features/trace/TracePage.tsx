import { useCallback, useEffect, useMemo, useState } from "react";
import { isKind } from "../../api/problem";
import { getTrace } from "../../api/traces";
import { usePolled } from "../../api/usePolled";
import { localDate, preciseTime, utcTime } from "../../base/clock";
import { navigate } from "../../base/routing";
import { counted } from "../../stream/format";
import { Button } from "../../ui/Button";
import { EmptyState } from "../../ui/EmptyState";
import { Notice } from "../../ui/Notice";
import { PageLink } from "../../ui/PageLink";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { TraceDetail } from "../../wire/generated/models";
import { ConnectionNotice } from "../attach/ConnectionNotice";
import { operationName } from "../traces/callTree";
import { EMPTY_TRACES, tracesHref } from "../traces/link";
import styles from "../traces/TracesPage.module.css";
import { timeText } from "../traces/text";
import { PathPanel } from "./PathPanel";
import { SpanPanel } from "./SpanPanel";
import { WaterfallPanel } from "./WaterfallPanel";
import { waterfallOf } from "./waterfall";

/** One request: its waterfall, its critical path, and what threads did on it. */
export function TracePage({ id }: { readonly id: string }) {
  const load = useCallback((signal: AbortSignal) => getTrace(id, signal), [id]);
  const { value, problem, refresh } = usePolled(load, null);
  return (
    <div className={styles.page}>
      <ConnectionNotice />
      {value !== null ? (
        <Trace trace={value} />
      ) : isKind(problem, "unknown-trace") ? (
        <EmptyState title="Trace not found">
          <p>
            <code>{id}</code> has expired, or was never sent here.
          </p>
          <Button look="primary" onClick={() => navigate("/traces")}>
            All traces
          </Button>
        </EmptyState>
      ) : problem !== null ? (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      ) : (
        <EmptyState title="Loading the trace…" />
      )}
    </div>
  );
}

function Trace({ trace }: { readonly trace: TraceDetail }) {
  const waterfall = useMemo(() => waterfallOf(trace), [trace]);
  const [first] = waterfall.rows;
  // The span that its request waited for longest is what a person came for.
  const [selected, setSelected] = useState<string | null>(
    () => trace.threads[0]?.span_id ?? first?.span.span_id ?? null,
  );
  const row = waterfall.rows.find(({ span }) => span.span_id === selected) ?? null;
  const thread = trace.threads.find(({ span_id }) => span_id === selected) ?? null;
  const name = first === undefined ? "Trace" : operationName(first.span);
  useEffect(() => {
    document.title = `${name} · tidscope`;
  }, [name]);
  const start_ms = waterfall.start_ns / 1e6;
  const { truncated, dropped } = trace.skew;
  return (
    <section className={styles.page}>
      <header className={styles.head}>
        <h1>
          <PageLink href="/traces">Traces</PageLink> ›{" "}
          {first === undefined ? null : (
            <PageLink
              href={tracesHref({
                ...EMPTY_TRACES,
                service: first.span.service,
                operation: first.span.operation,
              })}
            >
              {name}
            </PageLink>
          )}{" "}
          › {timeText(waterfall.duration_ns)}
        </h1>
        <span className={styles.hint}>
          <time title={utcTime(start_ms)}>
            {localDate(start_ms).split(",")[0]}, {preciseTime(start_ms)}
          </time>{" "}
          · {counted(trace.spans.length, "span")} · trace <code>{trace.trace_id}</code>
        </span>
      </header>
      {truncated + dropped === 0 ? null : (
        <Notice status="warning" title="Clocks of its services disagree">
          {counted(truncated, "call")} cut where they reach beyond their caller, and{" "}
          {counted(dropped, "call")} left out of the critical path.
        </Notice>
      )}
      <PathPanel trace={trace} waterfall={waterfall} selected={selected} onSelect={setSelected} />
      <WaterfallPanel waterfall={waterfall} selected={selected} onSelect={setSelected} />
      {row === null ? null : <SpanPanel row={row} thread={thread} />}
    </section>
  );
}
