/**
 * Feature `facts`: views of frame tables in, uniform columns and messages for their panels out. It
 * must not know a particular panel. Columns shared by several tables of figures, for a uniform
 * appearance.
 */

import { type ReactNode, type RefObject, useEffect } from "react";
import { READABLE_MS, useThrottled } from "../../base/useStore";
import { SmallMarker } from "../../chart/Marker";
import { type ChartTheme, colourStyle } from "../../chart/palette";
import { useVisibility } from "../../chart/useResize";
import { useLiveClient } from "../../stream/client";
import type { FactViews } from "../../stream/factViews";
import { formatNumber, formatValue } from "../../stream/format";
import type { FactPart } from "../../stream/viewRequest";
import { Middle } from "../../ui/Middle";
import type { SortedColumn } from "../../ui/SortedTable";
import styles from "./facts.module.css";

/** A view of frame tables, requested while its panel is visible; null until the first view. */
export function useFacts<P extends FactPart>(
  part: P,
  place: RefObject<HTMLElement | null>,
): FactViews[P] | null {
  const client = useLiveClient();
  const inView = useVisibility(place);
  const view = useThrottled(client.facts[part], READABLE_MS);
  // An invisible panel keeps its last picture, if any.
  const wanted = inView || view === null || ("state" in view && view.state === "waiting");
  useEffect(() => (wanted ? client.mountFacts(part) : undefined), [client, part, wanted]);
  return view;
}

/** Heading of a column. */
interface Heading {
  readonly under?: string;
  readonly tip?: string;
}

/**
 * Table width: a narrow table, such as one beside three others, has short headings and narrow
 * columns.
 */
export type Room = "wide" | "narrow";

/** Widths in rem: each fits the widest figure and its heading. */
const WIDTHS = {
  wide: { figure: 6.5, mean: 5.75, share: 8.75 },
  narrow: { figure: 4.75, mean: 4.75, share: 8 },
} as const;

function heading({ under, tip }: Heading): Heading {
  return { ...(under !== undefined && { under }), ...(tip !== undefined && { tip }) };
}

/** A name or another text; possibly cut in its middle, with the full text in a tooltip. */
export function textColumn<T>(
  id: string,
  label: string,
  text: (row: T) => string,
  rest: Heading & { readonly width?: number; readonly cell?: (row: T) => ReactNode } = {},
): SortedColumn<T> {
  const { width, cell = (row: T) => <Named text={text(row)} /> } = rest;
  const own = { id, label, text: true, value: text, cell, ...heading(rest) };
  return width === undefined ? own : { ...own, width };
}

function Named({ text }: { readonly text: string }) {
  return (
    <span title={text}>
      <Middle text={text} />
    </span>
  );
}

/** A thread with its colour, and its ID if the table is wide. */
export function threadColumn<T extends NamedThread>(
  theme: ChartTheme,
  room: Room = "wide",
): SortedColumn<T> {
  const cell = (thread: T) => (
    <ThreadName thread={thread} theme={theme} short={room === "narrow"} />
  );
  return textColumn("name", "Thread", ({ name }) => name, { cell });
}

/** Kind of a row, in muted words. */
export function kindColumn<T>(
  id: string,
  label: string,
  text: (row: T) => string,
  width: number,
): SortedColumn<T> {
  const cell = (row: T) => <span className={styles.kind}>{text(row)}</span>;
  return textColumn(id, label, text, { width, cell });
}

export function roleColumn<T>(label: string, role: (row: T) => string): SortedColumn<T> {
  return textColumn("role", label, role, { under: "role", width: 9 });
}

/** A share from 0 to 1, as a bar and percent. */
export function shareColumn<T>(
  id: string,
  label: string,
  value: (row: T) => number,
  of: Heading & { readonly room?: Room; readonly width?: number },
): SortedColumn<T> {
  const width = of.width ?? WIDTHS[of.room ?? "wide"].share;
  const cell = (row: T) => <Share value={value(row)} />;
  return { id, label, value, cell, width, ...heading(of) };
}

/** Rate per second. */
export function rateColumn<T>(
  id: string,
  label: string,
  value: (row: T) => number,
  { room = "wide", tip }: { readonly room?: Room; readonly tip?: string } = {},
): SortedColumn<T> {
  const under = room === "wide" ? "per second" : "per s";
  const cell = (row: T) => formatNumber(value(row), "1/s");
  const width = WIDTHS[room].figure;
  return { id, label, value, cell, width, under, ...(tip !== undefined && { tip }) };
}

/** Number of threads, on average: thread-seconds per second. */
export function threadsColumn<T>(
  id: string,
  label: string,
  value: (row: T) => number,
  tip: string,
): SortedColumn<T> {
  const cell = (row: T) => formatNumber(value(row), "threads");
  return { id, label, under: "on average", tip, value, cell, width: WIDTHS.wide.figure };
}

/** Mean duration, in seconds. */
export function meanColumn<T>(
  id: string,
  value: (row: T) => number,
  rest: Heading & { readonly label?: string; readonly room?: Room; readonly width?: number } = {},
): SortedColumn<T> {
  const { label = "Each", under = "mean", room = "wide", tip } = rest;
  const cell = (row: T) => formatValue(value(row), "s");
  const width = rest.width ?? WIDTHS[room].mean;
  return { id, label, under, value, cell, width, ...(tip !== undefined && { tip }) };
}

export function countColumn<T>(
  id: string,
  label: string,
  value: (row: T) => number,
  under?: string,
): SortedColumn<T> {
  const cell = (row: T) => formatNumber(value(row), "count");
  const own = { id, label, value, cell, width: 5 };
  return under === undefined ? own : { ...own, under };
}

/** Mark a figure with a tilde if it is only an estimate by the program itself. */
export function estimated<T extends { readonly estimated: boolean }>(
  column: SortedColumn<T>,
): SortedColumn<T> {
  const cell = (row: T) =>
    row.estimated ? (
      <span title={ESTIMATED}>
        <abbr aria-label="about">~</abbr>
        {column.cell(row)}
      </span>
    ) : (
      column.cell(row)
    );
  return { ...column, cell };
}

const ESTIMATED =
  "An estimate: the program's own account samples waits, by profile or by dumps of its threads.";

/** A thread, or another party such as an interrupt (`tid` null). */
interface NamedThread {
  readonly tid: number | null;
  readonly name: string;
  readonly colour: number | null;
}

interface ThreadNameProps {
  readonly thread: NamedThread;
  readonly theme: ChartTheme;
  /** Omit the ID in narrow tables. */
  readonly short?: boolean;
}

/** Name and ID of a thread, or the name of another party. */
function ThreadName({ thread, theme, short = false }: ThreadNameProps) {
  const { tid, name, colour } = thread;
  return (
    <span title={tid === null ? name : `${name} (${tid})`}>
      {colour === null ? null : <SmallMarker style={colourStyle(colour, theme)} />}
      {tid === null ? <em>{name}</em> : short ? name : `${name} (${tid})`}
    </span>
  );
}

interface FactMessageProps {
  /** Availability of the table, and the reason; null while unknown. */
  readonly view: { readonly state: string; readonly reason: string } | null;
}

/** Message in place of a table: unavailable, or fewer than two readings. */
export function FactMessage({ view }: FactMessageProps) {
  return (
    <p className={styles.message}>
      {view?.state === "absent" ? `${view.reason}.` : "Waiting for two readings…"}
    </p>
  );
}

/** A share, as a bar and a number. */
export function Share({ value }: { readonly value: number }) {
  const part = Math.max(0, Math.min(1, Number.isNaN(value) ? 0 : value));
  return (
    <>
      <span className={styles.share} aria-hidden="true">
        <span style={{ width: `${100 * part}%` }} />
      </span>
      <span className={styles.percent}>{formatValue(value, "share")}</span>
    </>
  );
}
