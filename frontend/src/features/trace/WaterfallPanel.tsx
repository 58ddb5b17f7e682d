import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useMemo, useRef, useState } from "react";
import { Checkbox, Twisty } from "../../ui/Controls";
import { Panel } from "../../ui/Panel";
import { type TreeRow, treeKeyHandler, useRowNavigation } from "../../ui/useRowNavigation";
import { operationName, timeText } from "../traces/callTree";
import styles from "./Trace.module.css";
import { besidePath, unfolded, type Waterfall, type WaterfallRow } from "./waterfall";

interface WaterfallPanelProps {
  readonly waterfall: Waterfall;
  readonly selected: string | null;
  readonly onSelect: (span: string) => void;
}

const PAGE = 10;
/** Height of a row, in CSS pixels; equals --row. */
const ROW_PX = 28;
/** Maximum depth of indentation. */
const MAX_INDENT = 12;

/** The spans of a trace over time; waits of the request are marked. */
export function WaterfallPanel({ waterfall, selected, onSelect }: WaterfallPanelProps) {
  const root = useRef<HTMLDivElement>(null);
  const [pathOnly, setPathOnly] = useState(false);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const beside = useMemo(() => besidePath(waterfall.rows), [waterfall]);
  const rows = useMemo(() => {
    const shown = unfolded(waterfall.rows, folded);
    return pathOnly ? shown.filter(({ span }) => !beside.has(span.span_id)) : shown;
  }, [waterfall, folded, pathOnly, beside]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => root.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const scrollTo = useCallback((index: number) => virtual.scrollToIndex(index), [virtual]);
  const keys = useRowNavigation(root, rows.length, PAGE, scrollTo);
  const fold = (row: WaterfallRow, hide: boolean) => {
    const next = new Set(folded);
    if (hide) next.add(row.span.span_id);
    else next.delete(row.span.span_id);
    setFolded(next);
  };
  const openOf = (row: WaterfallRow) => (row.calls === 0 ? null : !folded.has(row.span.span_id));
  const onKeyDown = treeKeyHandler({
    rowAt: (index): TreeRow | undefined => {
      const row = rows[index];
      return row && { depth: row.depth, open: openOf(row) };
    },
    onFold: (index, hide) => {
      const row = rows[index];
      if (row) fold(row, hide);
    },
    focusRow: keys.focusRow,
    otherwise: keys.onKeyDown,
  });
  const inSight = virtual.getVirtualItems();
  const from = inSight[0]?.index ?? 0;
  const to = (inSight.at(-1)?.index ?? -1) + 1;
  const reachable = keys.active >= from && keys.active < to ? keys.active : from;
  return (
    <Panel
      title="Waterfall"
      note="thick: the critical path"
      controls={
        <Checkbox label="Only calls on the path" checked={pathOnly} onChange={setPathOnly} />
      }
    >
      <div ref={root} className={styles.scroll}>
        <table
          className={styles.table}
          role={rows.length > 0 ? "treegrid" : undefined}
          aria-label="Waterfall"
          aria-rowcount={rows.length + 1}
        >
          <colgroup>
            <col className={styles.spanColumn} />
            <col />
            <col className={styles.figureColumn} />
            <col className={`${styles.figureColumn} ${styles.wideOnly}`} />
          </colgroup>
          <thead className={styles.heads}>
            <tr>
              <th scope="col">Span</th>
              <th scope="col">
                <span className={styles.scale}>
                  <span>0</span>
                  <span>{timeText(waterfall.duration_ns / 2)}</span>
                  <span>{timeText(waterfall.duration_ns)}</span>
                </span>
              </th>
              <th scope="col" className={styles.number}>
                Duration
              </th>
              <th scope="col" className={`${styles.number} ${styles.wideOnly}`}>
                On path
              </th>
            </tr>
          </thead>
          <tbody onKeyDown={onKeyDown}>
            {from > 0 ? <tr style={{ height: from * ROW_PX }} /> : null}
            {rows.slice(from, to).map((row, place) => (
              <SpanRow
                key={row.span.span_id}
                row={row}
                index={from + place}
                open={openOf(row)}
                onFold={(hide) => fold(row, hide)}
                beside={beside.has(row.span.span_id)}
                selected={row.span.span_id === selected}
                reachable={from + place === reachable}
                onSelect={onSelect}
              />
            ))}
            {to < rows.length ? <tr style={{ height: (rows.length - to) * ROW_PX }} /> : null}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

interface SpanRowProps {
  readonly row: WaterfallRow;
  readonly index: number;
  readonly open: boolean | null;
  readonly onFold: (hide: boolean) => void;
  readonly beside: boolean;
  readonly selected: boolean;
  readonly reachable: boolean;
  readonly onSelect: (span: string) => void;
}

function SpanRow(props: SpanRowProps) {
  const { row, index, open, onFold, beside, selected, reachable, onSelect } = props;
  const { span, depth, bar, path, own_ns } = row;
  const name = operationName(span);
  return (
    <tr
      className={styles.row}
      aria-rowindex={index + 2}
      aria-level={depth}
      aria-expanded={open ?? undefined}
      data-span={span.span_id}
      data-selected={selected}
      data-beside={beside}
      onClick={() => onSelect(span.span_id)}
    >
      <th scope="row" style={{ paddingLeft: `${0.75 * Math.min(depth, MAX_INDENT) - 0.5}rem` }}>
        <span className={styles.name}>
          <Twisty open={open} name={name} onFold={onFold} />
          <button
            type="button"
            className={styles.press}
            data-row={index}
            tabIndex={reachable ? 0 : -1}
            aria-pressed={selected}
            title={name}
            onClick={() => onSelect(span.span_id)}
          >
            {span.error ? <span className={styles.failed}>failed </span> : null}
            {name}
          </button>
        </span>
      </th>
      <td>
        <span className={styles.time}>
          <span
            className={styles.bar}
            style={{ left: `${100 * bar.left}%`, width: `${100 * bar.width}%` }}
          />
          {path.map(({ left, width }) => (
            <span
              key={left}
              className={styles.path}
              style={{ left: `${100 * left}%`, width: `${100 * width}%` }}
            />
          ))}
        </span>
      </td>
      <td className={styles.number}>{timeText(span.duration_ns)}</td>
      <td className={`${styles.number} ${styles.wideOnly}`}>
        {own_ns === 0 ? "" : timeText(own_ns)}
      </td>
    </tr>
  );
}
