import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { traceHeat } from "../../api/traces";
import { traceHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CanvasLayer } from "../../chart/canvasLayer";
import { CHART_THEMES, type ChartTheme } from "../../chart/palette";
import { ramp, rampStops, stepOf } from "../../chart/stateColours";
import { useResize } from "../../chart/useResize";
import { Button, SegmentedControl } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { TraceHeat, TraceOperation } from "../../wire/generated/models";
import { nsColumn, numberColumn, traceColumn } from "./Columns";
import { operationName, timeText } from "./callTree";
import { HEAT_RANKS, heatQuery } from "./link";
import { type LinkProps, useQuery } from "./props";
import styles from "./TracesPage.module.css";

type HeatOrder = "start" | "duration";

/** A cell by its drawn row and column. */
interface HeatCell {
  readonly row: number;
  readonly column: number;
}

/** Columns of a heat map in an order: indices of its traces. */
export function heatColumns({ traces }: TraceHeat, order: HeatOrder): readonly number[] {
  const columns = traces.map((_, at) => at);
  const value = (at: number) =>
    order === "start" ? (traces[at]?.start_ns ?? 0) : (traces[at]?.duration_ns ?? 0);
  return columns.sort((a, b) => value(a) - value(b));
}

/** The greatest time of a cell, ns. */
export function heatTop({ times_ns }: TraceHeat): number {
  return times_ns.reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), 0);
}

/** Cursor after a key; null if unchanged. A new cursor appears at the first cell. */
export function moveInHeat(
  cell: HeatCell | null,
  key: string,
  rows: number,
  columns: number,
): HeatCell | null {
  const steps: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -columns],
    End: [0, columns],
  };
  const step = steps[key];
  if (step === undefined || rows === 0 || columns === 0) return null;
  if (cell === null) return { row: 0, column: 0 };
  const within = (value: number, count: number) => Math.min(Math.max(value, 0), count - 1);
  return {
    row: within(cell.row + step[0], rows),
    column: within(cell.column + step[1], columns),
  };
}

/** A cell in words. */
export function heatText(heat: TraceHeat, row: number, trace: number): string {
  const operation = heat.operations[row];
  const found = heat.traces[trace];
  if (operation === undefined || found === undefined) return "";
  const own = heat.times_ns[row]?.[trace] ?? 0;
  const of = `a request of ${timeText(found.duration_ns)}`;
  const chains = (heat.chains[row]?.[trace] ?? []).map(
    ({ chain, ns }) => `${timeText(ns)} in ${chain.map(operationName).join(", ")}`,
  );
  const what = own === 0 ? "not on the critical path" : `${timeText(own)} on the critical path`;
  return [`${operationName(operation)}: ${what} of ${of}`, ...chains].join("; ");
}

/** Operations by requests. */
export function HeatPanel({ link, onLink }: LinkProps) {
  const { value, problem, refresh } = useQuery(traceHeat, heatQuery(link));
  const colours = CHART_THEMES[useStore(theme)];
  const [order, setOrder] = useState<HeatOrder>("start");
  const columns = useMemo(() => (value === null ? [] : heatColumns(value, order)), [value, order]);
  return (
    <Panel
      title="Heat map"
      note="time on the critical path; a column is a request"
      controls={
        <>
          <SegmentedControl
            label="Time of an operation"
            value={link.heatMetric}
            choices={[
              { value: "exclusive", label: "Own" },
              { value: "inclusive", label: "With its calls" },
            ]}
            onChange={(heatMetric) => onLink({ heatMetric })}
          />
          <SegmentedControl
            label="Order of operations"
            value={link.heatRank}
            choices={HEAT_RANKS.map((value) => ({ value, label: `By ${value}` }))}
            onChange={(heatRank) => onLink({ heatRank })}
          />
          <SegmentedControl
            label="Order of requests"
            value={order}
            choices={[
              { value: "start", label: "By start" },
              { value: "duration", label: "By duration" },
            ]}
            onChange={setOrder}
          />
        </>
      }
    >
      <div className={styles.body}>
        {problem === null ? null : (
          <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
        )}
        {value === null ? (
          problem === null ? (
            <p className={styles.hint}>Loading…</p>
          ) : null
        ) : (
          <>
            <TraceHeatMap
              heat={value}
              columns={columns}
              theme={colours}
              onOpen={(trace) => navigate(traceHref(trace))}
            />
            <details>
              <summary>As a table</summary>
              <HeatTable heat={value} />
            </details>
          </>
        )}
      </div>
    </Panel>
  );
}

interface HeatRow {
  readonly operation: TraceOperation;
  readonly median_ns: number;
  readonly most_ns: number;
  readonly traces: number;
  readonly slowest: string;
}

function heatRows({ operations, times_ns, traces }: TraceHeat): readonly HeatRow[] {
  return operations.map((operation, row) => {
    const values = times_ns[row] ?? [];
    const sorted = [...values].sort((a, b) => a - b);
    const most_ns = sorted.at(-1) ?? 0;
    return {
      operation,
      median_ns: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
      most_ns,
      traces: values.filter((value) => value > 0).length,
      slowest: traces[values.indexOf(most_ns)]?.trace_id ?? "",
    };
  });
}

const keyOf = ({ operation }: HeatRow) => operationName(operation);
const COLUMNS: readonly SortedColumn<HeatRow>[] = [
  { id: "name", label: "Operation", text: true, value: keyOf, cell: keyOf },
  nsColumn("median", "Median", ({ median_ns }) => median_ns),
  nsColumn("most", "Longest", ({ most_ns }) => most_ns),
  numberColumn("traces", "Requests", ({ traces }) => traces, {
    tip: "Requests on whose critical path it is.",
  }),
  traceColumn(({ slowest }) => slowest, { label: "Slowest" }),
];

function HeatTable({ heat }: { readonly heat: TraceHeat }) {
  const rows = useMemo(() => heatRows(heat), [heat]);
  return (
    <SortedTable
      label="Time of operations"
      columns={COLUMNS}
      rows={rows}
      keyOf={keyOf}
      sortedBy="median"
      first={14}
    />
  );
}

interface TraceHeatMapProps {
  readonly heat: TraceHeat;
  /** Indices of its traces, from left to right. */
  readonly columns: readonly number[];
  readonly theme: ChartTheme;
  readonly onOpen: (trace: string) => void;
}

const LINE_PX = 20;
/** Gap between rows, and between columns of sufficient width, in CSS pixels. */
const GAP_PX = 1;
const GAP_FROM_PX = 5;

/** Operations by traces: a brighter cell means more waiting of its trace for the operation. */
function TraceHeatMap({ heat, columns, theme, onOpen }: TraceHeatMapProps) {
  const plot = useRef<HTMLDivElement>(null);
  const layer = useRef<CanvasLayer | null>(null);
  const width = useResize(plot);
  const [cell, setCell] = useState<HeatCell | null>(null);
  const [said, setSaid] = useState("");
  const rows = heat.operations.length;
  const height = LINE_PX * rows;
  const top = heatTop(heat);

  useEffect(() => {
    const element = plot.current;
    if (element === null) return undefined;
    element.tabIndex = 0;
    const made = new CanvasLayer(element);
    layer.current = made;
    return () => {
      made.remove();
      layer.current = null;
    };
  }, []);
  useEffect(() => {
    if (layer.current === null || width === 0) return;
    layer.current.fit(width, height);
    draw(layer.current, heat, columns, { width, top, dark: theme.dark });
  }, [heat, columns, theme, width, height, top]);

  const traceAt = (at: HeatCell): number => columns[at.column] ?? -1;
  const open = (at: HeatCell | null) => {
    const trace = at === null ? undefined : heat.traces[traceAt(at)];
    if (trace !== undefined) onOpen(trace.trace_id);
  };
  const at = ({ clientX, clientY }: PointerEvent | React.MouseEvent): HeatCell | null => {
    const box = plot.current?.getBoundingClientRect();
    if (box === undefined || width === 0) return null;
    const row = Math.floor((clientY - box.top) / LINE_PX);
    const column = Math.floor(((clientX - box.left) / width) * columns.length);
    return row >= 0 && row < rows && column >= 0 && column < columns.length
      ? { row, column }
      : null;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter") {
      event.preventDefault();
      open(cell);
      return;
    }
    const next = moveInHeat(cell, event.key, rows, columns.length);
    if (next === null) return;
    event.preventDefault();
    setCell(next);
    setSaid(heatText(heat, next.row, traceAt(next)));
  };
  return (
    <div className={styles.map}>
      <ol className={styles.names} aria-hidden="true">
        {heat.operations.map((operation, row) => (
          <li
            key={operationName(operation)}
            title={operationName(operation)}
            data-pointed={cell?.row === row}
          >
            {operationName(operation)}
          </li>
        ))}
      </ol>
      <div
        ref={plot}
        role="application"
        aria-roledescription="heat map"
        aria-label={`Time of ${rows} operations in ${columns.length} requests; arrow keys move, Enter opens the request`}
        className={styles.plot}
        style={{ height }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          setCell(null);
          setSaid("");
        }}
        onPointerMove={(event) => {
          const next = at(event);
          if (next?.row !== cell?.row || next?.column !== cell?.column) setCell(next);
        }}
        onPointerLeave={() => setCell(null)}
        onClick={(event) => open(at(event))}
      >
        {cell === null ? null : (
          <>
            <span
              className={styles.cursor}
              style={{
                left: `${(100 * cell.column) / columns.length}%`,
                width: `${100 / columns.length}%`,
                top: LINE_PX * cell.row,
                height: LINE_PX,
              }}
            />
            <CellTip heat={heat} cell={cell} trace={traceAt(cell)} columns={columns.length} />
          </>
        )}
      </div>
      <div className={styles.scale}>
        <span>empty: not on the path;</span>
        <span>{timeText(top / 1000)}</span>
        <span
          className={styles.ramp}
          style={{ background: `linear-gradient(90deg, ${rampStops(theme.dark).join()})` }}
        />
        <span>{timeText(top)}, logarithmic</span>
      </div>
      <output aria-live="polite" className="visually-hidden">
        {said}
      </output>
    </div>
  );
}

interface CellTipProps {
  readonly heat: TraceHeat;
  readonly cell: HeatCell;
  readonly trace: number;
  readonly columns: number;
}

/** Details of the cell under the pointer: its request, and the call chains with the most time. */
function CellTip({ heat, cell, trace, columns }: CellTipProps) {
  const operation = heat.operations[cell.row];
  const found = heat.traces[trace];
  if (operation === undefined || found === undefined) return null;
  const own = heat.times_ns[cell.row]?.[trace] ?? 0;
  const chains = heat.chains[cell.row]?.[trace] ?? [];
  const right = cell.column > columns / 2;
  const place = right
    ? { right: `${100 - (100 * cell.column) / columns}%` }
    : { left: `${(100 * (cell.column + 1)) / columns}%` };
  return (
    <div
      className={`popup ${styles.tip}`}
      aria-hidden="true"
      style={{ ...place, top: LINE_PX * (cell.row + 1) + 4 }}
    >
      <strong>{operationName(operation)}</strong>
      <div>
        {own === 0 ? "not on the critical path" : timeText(own)} of {timeText(found.duration_ns)}
      </div>
      {chains.map(({ chain, ns }) => (
        <div key={chain.map(operationName).join("\n")} className={styles.chain}>
          {timeText(ns)} · {chain.map(operationName).join(" › ")}
        </div>
      ))}
    </div>
  );
}

function draw(
  layer: CanvasLayer,
  heat: TraceHeat,
  columns: readonly number[],
  { width, top, dark }: { readonly width: number; readonly top: number; readonly dark: boolean },
): void {
  layer.clear();
  const { context } = layer;
  if (context === null || columns.length === 0) return;
  const colours = ramp(dark);
  const cell = width / columns.length;
  const gap = cell >= GAP_FROM_PX ? GAP_PX : 0;
  for (const row of heat.operations.keys()) {
    for (const [place, trace] of columns.entries()) {
      const value = heat.times_ns[row]?.[trace] ?? 0;
      if (value <= 0) continue;
      const step = 3 * stepOf(value, { top, log: true });
      context.fillStyle = `rgb(${colours[step]},${colours[step + 1]},${colours[step + 2]})`;
      context.fillRect(place * cell, row * LINE_PX, cell - gap, LINE_PX - GAP_PX);
    }
  }
}
