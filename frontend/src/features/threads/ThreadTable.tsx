/**
 * Feature `threads`: the requested rows of the worker's table in, a virtualised table out. It must
 * not sort or filter rows.
 */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { theme } from "../../base/theme";
import { useSelected, useStore, useThrottled } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { useVisibility } from "../../chart/useResize";
import { RING_FIELDS } from "../../stream/chartSpecs";
import { useLiveClient } from "../../stream/client";
import { fieldLabel } from "../../stream/format";
import { ESTIMATE_NOTE } from "../../stream/power";
import {
  DEFAULT_TABLE,
  type SortColumn,
  type TableRequest,
  type ViewRequest,
} from "../../stream/viewRequest";
import type { TableRow } from "../../stream/views";
import { SortHeader } from "../../ui/SortedTable";
import { treeKeyHandler, useRowNavigation } from "../../ui/useRowNavigation";
import { useStableOrder } from "../../ui/useStableOrder";
import type { SampleSource, Target } from "../../wire/generated/models";
import { RoleDialog } from "../roles/RoleDialog";
import { takingStacks, usePlaces } from "../stacks/Places";
import {
  type Column,
  columnsOf,
  explain,
  isSortedBy,
  saveColumns,
  savedColumns,
  unitOf,
} from "./columns";
import { ColumnChooser, TableBar } from "./TableBar";
import { ThreadRow } from "./ThreadRow";
import styles from "./ThreadTable.module.css";

const ROW_PX = 28;
/** Width of the column of code, in columns of figures. */
const CODE = 1.9;
const PAGE = 12;
/**
 * Row alignment of requests: scrolling requests rows in chunks of this size, and therefore seldom.
 */
const STRIDE = 40;
const LIMIT = 120;
/** Update interval of an invisible table, in ms: kept for prints and searches. */
const UNSEEN_MS = 2000;
/** Maximum number of open rows: ended processes stay in the list. */
const MAX_OPEN = 200;
const NONE: readonly TableRow[] = [];
const keyOf = (row: TableRow) => row.key;
const depthOf = (row: TableRow) => row.depth;
/** Key selected by a row: a role within a process selects the role in all processes. */
const selectionOf = ({ kind, role, key }: TableRow) => (kind === "role" ? `role:${role}` : key);
const selectedOf = (view: ViewRequest) => view.selected;
const NO_HOVER = { t_s: null, key: null, chart: null };

/** All threads of the target, or its roles. */
export const ThreadTable = memo(function ThreadTable({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const root = useRef<HTMLDivElement>(null);
  const inView = useVisibility(root);
  const view = useThrottled(client.table, inView ? 0 : UNSEEN_MS);
  const selected = useSelected(client.view, selectedOf);
  const colours = CHART_THEMES[useStore(theme)];
  const { ids, columns, choose } = useColumns();
  const [choosing, setChoosing] = useState(false);
  const [corrected, setCorrected] = useState<string | null>(null);
  const [request, setRequest] = useState<TableRequest>({
    ...DEFAULT_TABLE,
    // At the end of a command's run no thread is alive.
    lives: client.extent ? "all" : DEFAULT_TABLE.lives,
    group: target.group ? "process" : DEFAULT_TABLE.group,
    limit: LIMIT,
  });
  const change = useCallback(
    (part: Partial<TableRequest>) => setRequest((before) => ({ ...before, ...part })),
    [],
  );
  useEffect(() => client.request({ table: request }), [client, request]);
  useEffect(() => () => client.request({ table: null }), [client]);

  const { rows, handlers, release } = useStableOrder(view?.rows ?? NONE, keyOf, depthOf);
  const offset = view?.offset ?? 0;
  const total = view?.total ?? 0;
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => root.current,
    estimateSize: () => ROW_PX,
    overscan: 6,
  });
  const scrollTo = useCallback((index: number) => virtual.scrollToIndex(index), [virtual]);
  const keys = useRowNavigation(root, total, PAGE, scrollTo);
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const wanted = Math.max(0, Math.floor((first - STRIDE / 2) / STRIDE) * STRIDE);
  useEffect(() => change({ offset: wanted }), [change, wanted]);

  const sortBy = (sort: SortColumn) => {
    const same = JSON.stringify(sort) === JSON.stringify(request.sort);
    const ring = "field" in sort ? RING_FIELDS.find((each) => each === sort.field) : undefined;
    release();
    change({
      sort,
      descending: same ? !request.descending : sort.by !== "name" && sort.by !== "tid",
      spark_field: ring ?? request.spark_field,
    });
  };
  const onSearchKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" && total > 0) {
      event.preventDefault();
      keys.focusRow(0);
    }
  };
  const places = useMemo(
    () => new Map((view?.fields ?? []).map((field, place) => [field, place])),
    [view?.fields],
  );
  const absent = useMemo(
    () => new Map(target.absent.map(({ field, reason }) => [field, reason])),
    [target.absent],
  );
  const onSelect = useCallback((row: TableRow) => client.select(selectionOf(row)), [client]);
  const onFold = useCallback((row: TableRow, fold: boolean) => {
    setRequest((before) => {
      const others = before.open.filter((key) => key !== row.key);
      return { ...before, open: fold ? others : [...others.slice(1 - MAX_OPEN), row.key] };
    });
  }, []);
  const onPin = useCallback((row: TableRow) => client.togglePin(row.key), [client]);
  const onRole = useCallback(({ role }: TableRow) => setCorrected(role), []);
  const onPoint = useCallback(
    (row: TableRow | null) =>
      client.hover.set(row === null ? NO_HOVER : { ...NO_HOVER, key: row.key }),
    [client],
  );

  const tree = request.group === "process";
  // The requested state: rows of the table follow up to half a second later.
  const isOpen = ({ key, open }: TableRow) => (open === null ? null : request.open.includes(key));
  const onKeyDown = tree
    ? treeKeyHandler({
        rowAt: (index) => {
          const row = rows[index - offset];
          return row && { depth: row.depth, open: isOpen(row) };
        },
        onFold: (index, fold) => {
          const row = rows[index - offset];
          if (row !== undefined) {
            onFold(row, fold);
          }
        },
        focusRow: keys.focusRow,
        otherwise: keys.onKeyDown,
      })
    : keys.onKeyDown;
  const power = target.energy.domains.some((domain) => domain.summed);
  const { threads: now } = usePlaces();
  const taking = useStore(takingStacks);
  const code = taking || now.size > 0;
  const extra = Number(power) + Number(code);
  const inSight = items.some((item) => item.index === keys.active);
  const reachable = inSight ? keys.active : first;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <section className={`surface ${styles.panel}`} aria-label="Threads">
      <TableBar
        request={request}
        group={target.group != null}
        onChange={change}
        onColumns={() => setChoosing(true)}
        onSearchKey={onSearchKey}
      />
      <div ref={root} className={styles.scroll}>
        <table
          className={styles.table}
          role={tree ? "treegrid" : undefined}
          aria-label={tree ? "Processes, roles and threads" : undefined}
          data-group={request.group}
          aria-rowcount={total + 1}
          style={{ ["--columns" as string]: columns.length + Number(power) + CODE * Number(code) }}
        >
          <TableHead
            columns={columns}
            request={request}
            source={target.source.kind}
            power={power}
            code={code}
            onSort={sortBy}
          />
          <tbody onKeyDown={onKeyDown} {...handlers}>
            <tr style={{ height: items[0]?.start ?? 0 }} />
            {items.map((item) => {
              const row = rows[item.index - offset];
              return row === undefined ? (
                <tr key={item.key} className={styles.row}>
                  <td colSpan={5 + columns.length + extra} />
                </tr>
              ) : (
                <ThreadRow
                  key={row.key}
                  row={row}
                  open={isOpen(row)}
                  selected={selectionOf(row) === selected}
                  index={item.index}
                  columns={columns}
                  places={places}
                  absent={absent}
                  watts_per_core={power ? (view?.watts_per_core ?? Number.NaN) : null}
                  now_s={view?.now_s ?? 0}
                  code={code}
                  now={row.tid === null ? undefined : now.get(row.tid)}
                  reachable={item.index === reachable}
                  theme={colours}
                  onSelect={onSelect}
                  onFold={tree ? onFold : null}
                  onPin={onPin}
                  onRole={onRole}
                  onPoint={onPoint}
                />
              );
            })}
            <tr style={{ height: below }} />
          </tbody>
        </table>
        {view !== null && total === 0 ? (
          <p className={styles.none}>
            {request.lives === "exited" ? "No matching exited threads." : "No matching threads."}
          </p>
        ) : null}
      </div>
      {corrected === null ? null : (
        <RoleDialog target={target} role={corrected} onClose={() => setCorrected(null)} />
      )}
      {choosing ? (
        <ColumnChooser
          target={target}
          chosen={ids}
          onChange={choose}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </section>
  );
});

/** Columns of the table, stored in this browser. */
function useColumns(): {
  readonly ids: readonly string[];
  readonly columns: readonly Column[];
  readonly choose: (ids: readonly string[]) => void;
} {
  const [ids, setIds] = useState(savedColumns);
  const columns = useMemo(() => columnsOf(ids), [ids]);
  const choose = (next: readonly string[]) => {
    saveColumns(next);
    setIds(next);
  };
  return { ids, columns, choose };
}

interface TableHeadProps {
  readonly columns: readonly Column[];
  readonly request: TableRequest;
  readonly source: SampleSource;
  /** Whether the power estimate has a column. */
  readonly power: boolean;
  /** Whether the code of each thread has a column. */
  readonly code: boolean;
  readonly onSort: (sort: SortColumn) => void;
}

const NAME_HEADS = { thread: "Name", role: "Role", process: "Process, role, thread" } as const;
const ID_HEADS = { thread: "tid", role: "Threads", process: "pid, tid" } as const;

/** Headers of the columns; each sorts, and has an explanation. */
function TableHead({ columns, request, source, power, code, onSort }: TableHeadProps) {
  const direction = request.descending ? "descending" : "ascending";
  const own = (by: "tid" | "name" | "state" | "age") => (request.sort.by === by ? direction : null);
  const { group } = request;
  return (
    <thead className={styles.head}>
      <tr>
        <SortHeader
          className={styles.name}
          label={NAME_HEADS[group]}
          sorted={own("name")}
          onSort={() => onSort({ by: "name" })}
        />
        <SortHeader
          className={styles.tid}
          label={ID_HEADS[group]}
          sorted={own("tid")}
          numeric
          onSort={() => onSort({ by: "tid" })}
        />
        <SortHeader
          className={styles.state}
          label="State"
          tip="live: counters changed recently. idle: alive, no change. exited: the thread has ended."
          sorted={own("state")}
          onSort={() => onSort({ by: "state" })}
        />
        <SortHeader
          className={styles.age}
          label="Age"
          tip="Time since the thread started, or its lifetime if it has exited."
          sorted={own("age")}
          numeric
          onSort={() => onSort({ by: "age" })}
        />
        <th scope="col" className={styles.spark}>
          <span className={styles.sparkLabel}>
            {fieldLabel(request.spark_field)}
            <small>recent</small>
          </span>
        </th>
        {code ? (
          <th scope="col" className={styles.code}>
            <span className={styles.sparkLabel}>
              Code<small>last stack</small>
            </span>
          </th>
        ) : null}
        {power ? (
          <SortHeader
            className={styles.number}
            label="Power"
            under="W, estimate"
            tip={ESTIMATE_NOTE}
            sorted={null}
            numeric
            onSort={() => onSort({ by: "rate", field: "cpu_run_ns" })}
          />
        ) : null}
        {columns.map((column) => (
          <SortHeader
            key={column.id}
            className={styles.number}
            label={column.field.label}
            under={unitOf(column)}
            tip={explain(column.field, source)}
            sorted={isSortedBy(request.sort, column) ? direction : null}
            numeric
            onSort={() => onSort({ by: column.shown, field: column.field.name })}
          />
        ))}
      </tr>
    </thead>
  );
}
