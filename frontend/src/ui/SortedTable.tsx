import { useVirtualizer } from "@tanstack/react-virtual";
import { Fragment, memo, type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import { Tooltip } from "./Overlays";
import styles from "./SortedTable.module.css";
import { useRowNavigation } from "./useRowNavigation";
import { useStableOrder } from "./useStableOrder";

interface SortHeaderProps {
  readonly label: string;
  /** Second line, such as the unit; "" if none. */
  readonly under?: string;
  readonly tip?: ReactNode;
  /** Sort direction of this column, or null if another column sorts the rows. */
  readonly sorted: "ascending" | "descending" | null;
  readonly numeric?: boolean;
  readonly onSort: () => void;
  readonly className?: string | undefined;
}

/** A column header that sorts the rows when pressed. */
export function SortHeader({
  label,
  under = "",
  tip = null,
  sorted,
  numeric = false,
  onSort,
  className = "",
}: SortHeaderProps) {
  const arrow =
    sorted === null ? null : (
      <span className={styles.arrow} aria-hidden="true">
        {sorted === "ascending" ? " ▲ " : " ▼ "}
      </span>
    );
  return (
    <th
      scope="col"
      aria-sort={sorted ?? "none"}
      className={`${className} ${numeric ? styles.numeric : ""}`}
    >
      <Tooltip text={tip} className={styles.tip}>
        <button type="button" className={styles.button} onClick={onSort}>
          <span className={styles.label}>
            {label}
            {under === "" ? arrow : null}
          </span>
          {under === "" ? null : (
            <span className={styles.under}>
              {arrow}
              {under}
            </span>
          )}
        </button>
      </Tooltip>
    </th>
  );
}

interface SortedTableProps<T> {
  readonly label: string;
  readonly columns: readonly SortedColumn<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Column that sorts the rows initially. */
  readonly sortedBy: string;
  /** Minimum width of the first column, in rem; at most `NARROW_FIRST` on a narrow screen. */
  readonly first?: number;
  readonly pressed?: (row: T) => boolean;
  readonly onPress?: (row: T) => void;
  readonly onPoint?: (row: T | null) => void;
  /** Content below an open row; null if the row is closed. */
  readonly below?: (row: T) => ReactNode;
  readonly expands?: boolean;
  readonly none?: string;
}

const PAGE = 10;
/**
 * Tables up to this many rows are drawn whole, so that the browser's search finds all rows. In
 * longer ones only visible rows are drawn.
 */
const ALL_DRAWN = 60;
/** Height of a row, in CSS pixels; equals --row. */
const ROW_PX = 28;
const OVERSCAN = 8;
/** Minimum width of the first column on a narrow screen, in rem: other columns must be visible. */
const NARROW_FIRST = 9;

/** A sortable table of live figures. Rows keep their place under pointer and focus. */
export function SortedTable<T>(props: SortedTableProps<T>) {
  const { label, columns, keyOf, pressed, onPress, onPoint, below, expands = false } = props;
  const root = useRef<HTMLDivElement>(null);
  const [sort, setSort] = useState({ by: props.sortedBy, descending: true });
  const sorted = useMemo(() => inOrder(props.rows, columns, sort), [props.rows, columns, sort]);
  const { rows, handlers, release } = useStableOrder(sorted, keyOf);
  // Content below a row has a variable height, which rules out virtualisation.
  const partly = rows.length > ALL_DRAWN && !expands;
  const virtual = useVirtualizer({
    enabled: partly,
    count: rows.length,
    getScrollElement: () => root.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  });
  const scrollTo = useCallback(
    (index: number) => {
      if (partly) virtual.scrollToIndex(index);
      else
        root.current
          ?.querySelector(`[data-row="${index}"]`)
          ?.scrollIntoView?.({ block: "nearest" });
    },
    [partly, virtual],
  );
  const keys = useRowNavigation(root, rows.length, PAGE, scrollTo);
  const sortBy = (column: SortedColumn<T>) => {
    release();
    const same = column.id === sort.by;
    setSort({ by: column.id, descending: same ? !sort.descending : column.text !== true });
  };
  const inSight = virtual.getVirtualItems();
  const from = partly ? (inSight[0]?.index ?? 0) : 0;
  const to = partly ? (inSight.at(-1)?.index ?? -1) + 1 : rows.length;
  const drawn = rows.slice(from, to);
  // Tab must reach a row that is drawn.
  const reachable = keys.active >= from && keys.active < to ? keys.active : from;
  const [head, ...rest] = columns;
  const first = props.first ?? 9;
  const kept = rest.filter((column) => column.wideOnly !== true);
  const widths = {
    ["--wide" as string]: `${first + widthOf(rest)}rem`,
    ["--narrow" as string]: `${Math.min(first, NARROW_FIRST) + widthOf(kept)}rem`,
  };
  if (head === undefined) {
    return null;
  }
  return (
    <div ref={root} className={`${styles.scroll} scroll-cue`}>
      <table
        className={styles.table}
        aria-label={label}
        aria-rowcount={partly ? rows.length + 1 : undefined}
        style={widths}
      >
        <colgroup>
          <col />
          {rest.map((column) => (
            <col
              key={column.id}
              className={wideOnly(column)}
              style={{ width: `${widthOf([column])}rem` }}
            />
          ))}
        </colgroup>
        <thead className={styles.heads}>
          <tr>
            {columns.map((column) => (
              <SortHeader
                key={column.id}
                label={column.label}
                under={column.under ?? ""}
                tip={column.tip ?? null}
                sorted={sort.by !== column.id ? null : sort.descending ? "descending" : "ascending"}
                numeric={column.text !== true}
                className={wideOnly(column)}
                onSort={() => sortBy(column)}
              />
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={keys.onKeyDown} {...handlers}>
          {from > 0 ? <tr style={{ height: from * ROW_PX }} /> : null}
          {drawn.map((row, place) => (
            <SortedRow
              key={keyOf(row)}
              row={row}
              rowKey={keyOf(row)}
              index={from + place}
              columns={columns}
              partly={partly}
              pressed={pressed?.(row) ?? false}
              reachable={from + place === reachable}
              expands={expands}
              below={below?.(row) ?? null}
              onPress={onPress}
              onPoint={onPoint}
            />
          ))}
          {to < rows.length ? <tr style={{ height: (rows.length - to) * ROW_PX }} /> : null}
        </tbody>
      </table>
      {rows.length === 0 ? <p className={styles.none}>{props.none ?? "None."}</p> : null}
    </div>
  );
}

/** Sum of the widths of columns, in rem. */
function widthOf(columns: readonly { readonly width?: number }[]): number {
  return columns.reduce((sum, column) => sum + (column.width ?? 5.5), 0);
}

/** Class of a column that narrow screens hide; "" for other columns. */
function wideOnly(column: { readonly wideOnly?: boolean }): string {
  return column.wideOnly === true ? (styles.wideOnly ?? "") : "";
}

/** Sort rows by a column. Rows without a value come last; equal rows keep their order. */
export function inOrder<T>(
  rows: readonly T[],
  columns: readonly SortedColumn<T>[],
  { by, descending }: { readonly by: string; readonly descending: boolean },
): readonly T[] {
  const column = columns.find(({ id }) => id === by);
  if (column === undefined) {
    return rows;
  }
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (typeof x === "string" || typeof y === "string") {
      return sign * String(x).localeCompare(String(y), "en", { numeric: true });
    }
    return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || sign * (x - y) || 0;
  });
}

interface SortedRowProps<T> {
  readonly row: T;
  readonly rowKey: string;
  readonly index: number;
  readonly columns: readonly SortedColumn<T>[];
  /** Some rows are not drawn: the row states its index. */
  readonly partly: boolean;
  readonly pressed: boolean;
  /** Tab reaches this row. */
  readonly reachable: boolean;
  readonly expands: boolean;
  /** Content below the row; null if closed. */
  readonly below: ReactNode;
  readonly onPress: ((row: T) => void) | undefined;
  readonly onPoint: ((row: T | null) => void) | undefined;
}

const NOTHING = () => undefined;

/** A row of a table of figures, re-rendered only when its content changes. */
const SortedRow = memo(Row) as typeof Row;

function Row<T>(props: SortedRowProps<T>) {
  const { row, rowKey, index, columns, partly, pressed, expands, below, onPress, onPoint } = props;
  const [head, ...rest] = columns;
  return (
    <Fragment>
      <tr
        className={styles.row}
        aria-rowindex={partly ? index + 2 : undefined}
        data-key={rowKey}
        data-selected={pressed}
        onPointerEnter={onPoint ? () => onPoint(row) : NOTHING}
        onPointerLeave={onPoint ? () => onPoint(null) : NOTHING}
      >
        <th scope="row">
          {onPress ? (
            <button
              type="button"
              className={styles.press}
              data-row={index}
              tabIndex={props.reachable ? 0 : -1}
              aria-expanded={expands ? below !== null : undefined}
              aria-pressed={expands ? undefined : pressed}
              onClick={() => onPress(row)}
              onFocus={onPoint ? () => onPoint(row) : NOTHING}
              onBlur={onPoint ? () => onPoint(null) : NOTHING}
            >
              {head?.cell(row)}
            </button>
          ) : (
            head?.cell(row)
          )}
        </th>
        {rest.map((column) => (
          <td
            key={column.id}
            className={`${column.text ? styles.text : styles.number} ${wideOnly(column)}`}
          >
            {column.cell(row)}
          </td>
        ))}
      </tr>
      {below === null ? null : (
        <tr className={styles.below}>
          <td colSpan={columns.length} className={styles.more}>
            {below}
          </td>
        </tr>
      )}
    </Fragment>
  );
}

/** A column of a table of figures. */
export interface SortedColumn<T> {
  readonly id: string;
  readonly label: string;
  /** Second line of the heading, such as the unit. */
  readonly under?: string;
  readonly tip?: string;
  /** Sort key. Texts sort ascending first; NaN comes last. */
  readonly value: (row: T) => number | string;
  readonly cell: (row: T) => ReactNode;
  /** Width in rem; the first column takes the rest. */
  readonly width?: number;
  readonly text?: boolean;
  /** Hidden on a narrow screen, where the page shows the value of a pressed row elsewhere. */
  readonly wideOnly?: boolean;
}
