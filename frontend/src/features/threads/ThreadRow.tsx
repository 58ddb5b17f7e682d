import { memo } from "react";
import { Marker } from "../../chart/Marker";
import type { ChartTheme } from "../../chart/palette";
import { colourStyle } from "../../chart/palette";
import { Sparkline } from "../../chart/Sparkline";
import { counted, formatDuration, formatNumber } from "../../stream/format";
import type { TableRow } from "../../stream/views";
import { Twisty } from "../../ui/Controls";
import type { ThreadNow } from "../../wire/generated/models";
import { nowText, nowTitle, StacksLink } from "../stacks/Places";
import { type Column, cellText, whyEmpty, whyInexact } from "./columns";
import styles from "./ThreadTable.module.css";

interface ThreadRowProps {
  readonly row: TableRow;
  /** True if the children follow; null without children. */
  readonly open: boolean | null;
  readonly selected: boolean;
  readonly index: number;
  readonly columns: readonly Column[];
  /** Index of each field in the row's arrays. */
  readonly places: ReadonlyMap<string, number>;
  /** Reasons for missing fields. */
  readonly absent: ReadonlyMap<string, string>;
  /** Estimated watts per core of CPU; null without the column. */
  readonly watts_per_core: number | null;
  readonly now_s: number;
  /** Whether the code of each thread has a column, and the thread's last stack. */
  readonly code: boolean;
  readonly now: ThreadNow | undefined;
  readonly reachable: boolean;
  readonly theme: ChartTheme;
  readonly onSelect: (row: TableRow) => void;
  /** Callback for folding; null if rows are no tree. */
  readonly onFold: ((row: TableRow, fold: boolean) => void) | null;
  readonly onPin: (row: TableRow) => void;
  /** Rename or merge the row's role. */
  readonly onRole: (row: TableRow) => void;
  readonly onPoint: (row: TableRow | null) => void;
}

/**
 * A thread or role. Its button covers the row. Memoised by identity: during scrolling only newly
 * visible rows are drawn.
 */
export const ThreadRow = memo(function ThreadRow(props: ThreadRowProps) {
  const { row, open, selected, index, columns, places, absent, now_s, reachable, theme, onFold } =
    props;
  const style = colourStyle(row.colour, theme);
  return (
    <tr
      className={styles.row}
      aria-rowindex={index + 2}
      aria-level={onFold ? row.depth : undefined}
      aria-expanded={onFold ? (open ?? undefined) : undefined}
      data-kind={row.kind}
      data-key={row.key}
      data-thread-state={row.state}
      data-selected={selected}
      onPointerEnter={() => props.onPoint(row)}
      onPointerLeave={() => props.onPoint(null)}
    >
      <th scope="row" className={styles.name}>
        <span
          className={styles.nameInside}
          style={onFold ? { paddingLeft: `${row.depth - 1}rem` } : undefined}
        >
          {onFold ? (
            <Twisty open={open} name={row.name} onFold={(fold) => onFold(row, fold)} />
          ) : null}
          <button
            type="button"
            className={styles.pin}
            tabIndex={-1}
            aria-pressed={row.pinned}
            aria-label={`Pin ${row.name}`}
            onClick={() => props.onPin(row)}
          >
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <path d="M4 1h4l-.6 4L9.5 7v1H2.5V7l2.1-2zM6 8v3.5" />
            </svg>
          </button>
          <Marker style={style} />
          <button
            type="button"
            className={styles.select}
            data-row={index}
            tabIndex={reachable ? 0 : -1}
            aria-pressed={selected}
            onClick={() => props.onSelect(row)}
            onKeyDown={(event) => {
              if (event.ctrlKey || event.metaKey || event.altKey) {
                return;
              }
              if (event.key === "p") {
                props.onPin(row);
              } else if (event.key === "e" && row.kind !== "process") {
                event.preventDefault();
                props.onRole(row);
              }
            }}
          >
            {row.name}
            {row.kind === "process" ? (
              <span className={styles.title}> {row.process?.title}</span>
            ) : null}
          </button>
          {row.kind === "process" ? null : (
            <button
              type="button"
              className={styles.edit}
              tabIndex={-1}
              aria-label={`Rename or merge the role of ${row.name}`}
              title={`Role: ${row.role}. Rename or merge it (e)`}
              onClick={() => props.onRole(row)}
            >
              <svg viewBox="0 0 12 12" aria-hidden="true">
                <path d="M2 10l.6-2.4L8 2.2l1.8 1.8-5.4 5.4zM7 3.2 8.8 5" />
              </svg>
            </button>
          )}
          {row.kind !== "thread" && onFold ? (
            <span className={styles.count} title={counted(row.threads, "thread")}>
              ×{row.threads}
            </span>
          ) : null}
        </span>
      </th>
      <td className={styles.tid}>{idOf(row, onFold !== null)}</td>
      <td className={styles.state} title={exitRecordText(row)}>
        {row.state}
        {row.end_s !== null && !row.exact ? <abbr aria-label="at least"> ≥</abbr> : null}
      </td>
      <td className={styles.age}>
        {formatDuration(Math.max(0, (row.end_s ?? now_s) - row.start_s))}
      </td>
      <td className={styles.spark}>
        <Sparkline values={row.spark} width={84} height={18} colour={style.colour} />
      </td>
      {props.code ? <CodeCell row={row} now={props.now} /> : null}
      {props.watts_per_core === null ? null : (
        <td className={styles.number} data-column="power">
          {formatNumber(props.watts_per_core * coresOf(row, places), "W")}
        </td>
      )}
      {columns.map((column) => {
        const place = places.get(column.field.name) ?? -1;
        const rate = row.rates[place] ?? Number.NaN;
        const total = row.totals[place] ?? Number.NaN;
        const value = column.shown === "rate" ? rate : total;
        const inexact = row.inexact.find(({ field }) => field === column.field.name);
        const reason = inexact ? whyInexact(inexact) : whyEmpty(column, rate, total, absent);
        return (
          <td
            key={column.id}
            className={value === 0 || reason !== null ? styles.zero : styles.number}
            data-column={column.id}
            data-inexact={inexact?.label}
            title={reason ?? undefined}
          >
            {cellText(column, value)}
            {inexact ? (
              <abbr aria-label={MARKS[inexact.label].says}> {MARKS[inexact.label].mark}</abbr>
            ) : null}
          </td>
        );
      })}
    </tr>
  );
});

interface CodeCellProps {
  readonly row: TableRow;
  readonly now: ThreadNow | undefined;
}

/** Innermost function of a thread's last stack, as a link to the thread's flame graph. */
function CodeCell({ row, now }: CodeCellProps) {
  const { kind, key, role, name, tid } = row;
  if (kind === "process") return <td className={styles.code} data-column="code" />;
  const what =
    kind === "role"
      ? { key: `role:${role}` }
      : { key, name: tid === null ? name : `${name} (${tid})` };
  const text = nowText(now);
  return (
    <td
      className={styles.code}
      data-column="code"
      data-ended={now?.ended}
      title={now === undefined ? undefined : nowTitle(now)}
    >
      <StacksLink what={what} plain={text} quiet>
        {text === "" ? "Stacks" : text}
      </StacksLink>
    </td>
  );
}

/** ID of a process or thread; a role has none. */
function idOf({ kind, tid, process, threads }: TableRow, tree: boolean): string {
  if (kind === "process") {
    return String(process?.pid ?? "");
  }
  return tid === null ? (tree ? "" : `×${threads}`) : String(tid);
}
const MARKS = {
  invalid: { mark: "*", says: "invalid" },
  ledger: { mark: "*", says: "by the ledger" },
  at_least: { mark: "≥", says: "at least" },
  estimated: { mark: "~", says: "estimated" },
} as const;

function coresOf(row: TableRow, places: ReadonlyMap<string, number>): number {
  return (row.rates[places.get("cpu_run_ns") ?? -1] ?? Number.NaN) / 1e9;
}

function exitRecordText(row: TableRow): string | undefined {
  if (row.state !== "exited") {
    return undefined;
  }
  return row.exact
    ? "Exited; totals are from the kernel's exit record."
    : "Exited without an exit record; totals are from its last sample and may be low.";
}
