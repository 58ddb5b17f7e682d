import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import { Panel } from "../../ui/Panel";
import { SortedTable } from "../../ui/SortedTable";
import type { SortedColumn } from "../../ui/sortedColumn";
import type { SpanThread, TraceDetail, TraceSpan } from "../../wire/generated/models";
import { nsColumn, percentColumn } from "../traces/Columns";
import { operationName } from "../traces/callTree";
import styles from "../traces/TracesPage.module.css";
import { shareText, timeText } from "../traces/text";
import { PartsBar, PartsLegend } from "./PartsBar";
import { greatestPart, guessed, joinText, threadText } from "./parts";
import type { Waterfall } from "./waterfall";

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

/** What the request waited for, and what the threads did meanwhile. */
export function PathPanel({ trace, waterfall, selected, onSelect }: PathPanelProps) {
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
    percentColumn("share", "Of the path", ({ thread }) => thread.own_ns / whole),
    {
      id: "parts",
      label: "What the thread did",
      text: true,
      value: ({ thread }) => greatestPart(thread)?.ns ?? 0,
      cell: ({ thread }) => <PartsBar thread={thread} theme={colours} />,
      width: 12,
    },
    {
      id: "most",
      label: "Most of it",
      text: true,
      value: ({ thread }) => greatestPart(thread)?.reason ?? "",
      cell: ({ thread }) => <span title={mostText(thread)}>{mostText(thread)}</span>,
      width: 19,
    },
    {
      id: "thread",
      label: "Thread",
      text: true,
      value: ({ thread }) => threadText(thread),
      cell: ({ thread }) => <span title={joinText(thread)}>{threadText(thread)}</span>,
      width: 12,
    },
    percentColumn("coverage", "Measured", ({ thread }) => thread.coverage, {
      tip: "Share of the span's own time that samples tell apart.",
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
  const share = shareText(part.ns / Math.max(1, thread.own_ns));
  const [lock] = part.reason === "locks" ? thread.locks : [];
  const by = lock?.woken_by == null ? "" : `, released by ${lock.woken_by}`;
  return `${guessed(thread, part.reason)} ${timeText(part.ns)} (${share})${by}`;
}
