/**
 * Feature `trace`: one trace of the backend in, its waterfall and the threads on its critical path
 * out. It must not find the critical path.
 */

import { useCallback, useEffect, useMemo, useState } from "react";
import { isKind } from "../../api/http";
import { getTrace } from "../../api/traces";
import { usePolled } from "../../api/usePolled";
import { localDate, preciseTime, utcTime } from "../../base/clock";
import { navigate } from "../../base/routing";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { counted } from "../../stream/format";
import { Button, PageLink } from "../../ui/Controls";
import { EmptyState, Notice, ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { SpanThread, TraceDetail, TraceSpan } from "../../wire/generated/models";
import { ConnectionNotice } from "../attach/ConnectionNotice";
import { nsColumn, percentColumn } from "../traces/Columns";
import { operationName, timeText } from "../traces/callTree";
import { EMPTY_TRACES, tracesHref } from "../traces/link";
import styles from "../traces/TracesPage.module.css";
import {
  greatestPart,
  guessed,
  isUnknown,
  joinText,
  PartsBar,
  PartsLegend,
  partText,
  threadText,
} from "./PartsBar";
import { SpanPanel } from "./SpanPanel";
import { WaterfallPanel } from "./WaterfallPanel";
import { type Waterfall, waterfallOf } from "./waterfall";

/** One request: its waterfall, its critical path, and the threads on it. */
export function TracePage({ id }: { readonly id: string }) {
  const load = useCallback((signal: AbortSignal) => getTrace(id, signal), [id]);
  const { value, problem, refresh } = usePolled(load, null);
  return (
    <div className={styles.page}>
      <ConnectionNotice />
      {value !== null ? (
        <Trace trace={value} />
      ) : isKind(problem, "unknown-trace") ? (
        <EmptyState title="Trace not found" page>
          <p>
            <code>{id}</code> has expired, or was never sent here.
          </p>
          <Button variant="primary" onClick={() => navigate("/traces")}>
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
  // Initially selects the span with the longest wait, the likely interest.
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

interface PathPanelProps {
  readonly trace: TraceDetail;
  readonly waterfall: Waterfall;
  readonly selected: string | null;
  readonly onSelect: (span: string) => void;
}

interface PathRow {
  readonly span: TraceSpan;
  readonly thread: SpanThread;
}

const keyOf = ({ span }: PathRow) => span.span_id;

/** Waits of the request, and thread activity meanwhile. */
function PathPanel({ trace, waterfall, selected, onSelect }: PathPanelProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const spans = new Map(trace.spans.map((span) => [span.span_id, span]));
  const rows = trace.threads.flatMap((thread): PathRow[] => {
    const span = spans.get(thread.span_id);
    return span === undefined ? [] : [{ span, thread }];
  });
  const whole = Math.max(1, waterfall.path_ns);
  const columns: readonly SortedColumn<PathRow>[] = [
    {
      id: "name",
      label: "Span",
      text: true,
      value: ({ span }) => operationName(span),
      cell: ({ span }) => operationName(span),
    },
    nsColumn("own", "Itself", ({ thread }) => thread.own_ns, {
      tip: "Own time on the critical path: what the request waited for this span itself.",
    }),
    percentColumn("share", "Of the path", ({ thread }) => thread.own_ns / whole, {
      wideOnly: true,
    }),
    {
      id: "parts",
      label: "What the thread did",
      text: true,
      value: ({ thread }) => greatestPart(thread)?.ns ?? 0,
      cell: ({ thread }) => <PartsBar thread={thread} theme={colours} />,
      width: 9,
    },
    {
      id: "most",
      label: "Most of it",
      text: true,
      value: ({ thread }) => greatestPart(thread)?.reason ?? "",
      cell: ({ thread }) => (
        <span title={isUnknown(thread) ? joinText(thread) : mostText(thread)}>
          {mostText(thread)}
        </span>
      ),
      width: 22,
      wideOnly: true,
    },
    {
      id: "thread",
      label: "Thread",
      text: true,
      value: ({ thread }) => threadText(thread),
      cell: ({ thread }) => <span title={joinText(thread)}>{threadText(thread)}</span>,
      width: 14,
      wideOnly: true,
    },
    percentColumn("coverage", "Measured", ({ thread }) => thread.coverage, {
      tip: "Share of the span's own time that samples tell apart.",
      wideOnly: true,
    }),
  ];
  const joined = rows.filter(({ thread }) => thread.joined_by !== null).length;
  return (
    <Panel
      title="Critical path"
      note={`${timeText(waterfall.path_ns)}; ${joined} of ${rows.length} spans joined with threads`}
    >
      <div className={styles.body}>
        <PartsLegend rows={rows.map(({ thread }) => thread)} theme={colours} />
        <div className={styles.table}>
          <SortedTable
            label="Spans of the critical path"
            columns={columns}
            rows={rows}
            keyOf={keyOf}
            sortedBy="own"
            first={14}
            pressed={(row) => row.span.span_id === selected}
            onPress={(row) => onSelect(row.span.span_id)}
            none="This trace has no critical path."
          />
        </div>
      </div>
    </Panel>
  );
}

function mostText(thread: SpanThread): string {
  const part = greatestPart(thread);
  if (part === null) return "–";
  if (isUnknown(thread)) return "unknown";
  const [lock] = part.reason === "locks" ? thread.locks : [];
  const by = lock?.woken_by == null ? "" : `, released by ${lock.woken_by}`;
  return `${guessed(thread, part.reason)} ${partText(thread, part)}${by}`;
}
