/**
 * The thread map in words: a cell, and the map as a whole. The thread map's cursor under the
 * keyboard.
 */

import { clockText } from "../../chart/axes";
import { counted, formatDuration, formatPercent, formatValue } from "../../stream/format";
import { countWithin, groupAt, type MapLayout, rowAt, threadsOf } from "../../stream/mapLayout";
import {
  cellShares,
  cellValue,
  keyAt,
  type MapPicture,
  NO_FIELD,
  placeAt,
  placeOf,
  ringPlace,
} from "../../stream/mapPicture";
import {
  cellStateName,
  isUnswitched,
  STATE_FIELD,
  type StateShare,
  sharesOfCell,
} from "../../stream/states";

/** Texts about a cell. */
export interface CellText {
  readonly time: string;
  /** Name and ID of the thread; the highest one of a shared row. */
  readonly thread: string;
  readonly role: string;
  readonly value: string;
  /** Dominant states of the cell, in a map of states. */
  readonly shares: readonly StateShare[];
  /** Number of threads that share the row, and events in the column; may be empty. */
  readonly notes: readonly string[];
}

export function columnAtTime({ view }: MapPicture, t_s: number): number {
  return Math.floor(t_s / view.bin_s + 1e-9);
}

/** Texts of a thread's cell at a moment; null if the thread has no row. */
export function cellText(picture: MapPicture, t_s: number, key: string): CellText | null {
  const { layout, view } = picture;
  const own = placeOf(layout, key);
  if (own < 0) return null;
  const column = columnAtTime(picture, t_s);
  const row = rowAt(layout, own);
  const place = placeAt(picture, column, row);
  const value = cellValue(picture, column, row);
  const [start_s, end_s] = [column * view.bin_s, (column + 1) * view.bin_s];
  const sharing = Number.isNaN(value) ? 0 : countWithin(layout, row, start_s, end_s);
  const group = groupAt(layout, row);
  const states = view.field === STATE_FIELD;
  const cell = states ? cellShares(picture, column, row) : 0;
  const notes: string[] = [];
  const process = layout.processes[place] ?? "";
  if (process !== "") notes.push(`of ${process}`);
  if (cell > 0 && isUnswitched(cell)) notes.push("not switched since attach: as /proc says");
  if (sharing > 1 && value >= 0) {
    notes.push(
      states
        ? `time of the ${sharing} threads in this row; named is the one that was idle least`
        : view.mix === "mean"
          ? `mean of the ${sharing} threads in this row; named is the highest`
          : `highest of the ${sharing} threads in this row`,
    );
  }
  const others = threadsOf(layout, row) - Math.max(1, sharing);
  if (others > 0) notes.push(`${counted(others, "more thread")} in this row at other times`);
  if (column >= picture.from && column < picture.to) {
    const at = ringPlace(column, view.capacity);
    const born = picture.born[at] ?? 0;
    const exited = picture.exited[at] ?? 0;
    if (born > 0) notes.push(`${born} born in these ${formatDuration(view.bin_s)}`);
    if (exited > 0) notes.push(`${exited} exited in these ${formatDuration(view.bin_s)}`);
  }
  return {
    time: clockText(view.attached_unix_ms + 1000 * column * view.bin_s, true),
    thread: `${layout.names[place] ?? ""} (${layout.tid[place] ?? ""})`,
    role: group?.role ?? "",
    value: valueText(picture, column, value),
    shares: value >= 0 ? sharesOfCell(value, cell) : [],
    notes,
  };
}

/** The value of a cell, or why the value is missing. */
export function valueText({ view, from, to }: MapPicture, column: number, value: number): string {
  const states = view.field === STATE_FIELD;
  if (value === NO_FIELD) return states ? "no ledger of this thread" : "no value for this thread";
  if (!Number.isNaN(value) && states) return cellStateName(value);
  if (!Number.isNaN(value)) return formatValue(value, view.unit);
  return column < from || column >= to ? "not sampled" : "not running";
}

/** A share of a cell, in whole percents. */
export function shareText(share: number): string {
  return formatPercent(share);
}

/** A cell in one sentence, for screen readers. */
export function cellSentence(words: CellText): string {
  const shares = words.shares.map(
    ({ number, share }) => `${cellStateName(number)} ${shareText(share)}`,
  );
  const value = shares.length > 0 ? shares.join(", ") : words.value;
  return [`${words.thread}, ${words.time}: ${value}`, ...words.notes].join("; ");
}

/** Text alternative of the map. */
export function describeMap(picture: MapPicture | null, field: string): string {
  if (!picture) return `Thread map of ${field}: loading.`;
  const { view, layout } = picture;
  if (view.state === "absent") return `Thread map of ${field}: not available. ${view.reason}`;
  if (view.state === "waiting") return `Thread map of ${field}: not enough data yet.`;
  const stacks = layout.groups.filter(({ heading }) => !heading);
  const largest = [...stacks].sort((a, b) => b.threads - a.threads).slice(0, 4);
  const roles = largest.map(({ role, threads }) => `${role} ${threads}`).join(", ");
  const by = stacks.some(({ fold }) => fold !== null) ? "process" : "role";
  const more =
    stacks.length > 4
      ? `, and ${stacks.length - 4} more ${by === "role" ? "roles" : "stacks"}`
      : "";
  return (
    `Thread map of ${field}, ${formatDuration(view.t1_s - view.t0_s)}: ` +
    `${layout.tid.length} threads by ${by} (${roles}${more}). Arrow keys move a cursor.`
  );
}

/** A moment and a thread: independent of moving columns and changing rows. */
export interface MapCursor {
  readonly t_s: number;
  readonly key: string;
}

const PAGE = 10;

/**
 * Cursor after a key, or null if the key does not move it. A new cursor appears at the newest
 * column of the first row.
 */
export function moveCursor(
  picture: MapPicture,
  cursor: MapCursor | null,
  key: string,
): MapCursor | null {
  const { layout, view } = picture;
  const move = MOVES[key];
  if (!move || layout.rows === 0) return null;
  const oldest = Math.max(picture.from, Math.ceil(view.t0_s / view.bin_s));
  const newest = picture.to - 1;
  const own = cursor ? placeOf(layout, cursor.key) : -1;
  const at =
    cursor && own >= 0
      ? { column: columnAtTime(picture, cursor.t_s), row: rowAt(layout, own) }
      : null;
  const next = at ? move(at) : { column: newest, row: 0 };
  const column = Math.max(oldest, Math.min(newest, next.column));
  const row = filledRow(layout, next.row, at !== null && next.row < at.row ? -1 : 1);
  const thread = keyAt(layout, placeAt(picture, column, row));
  return thread === null ? null : { t_s: (column + 0.5) * view.bin_s, key: thread };
}

/** The row, or for a heading the next row with threads. */
function filledRow(layout: MapLayout, wanted: number, step: 1 | -1): number {
  const last = layout.rows - 1;
  let row = Math.max(0, Math.min(last, wanted));
  while (row > 0 && row < last && threadsOf(layout, row) === 0) row += step;
  // There are no threads above the first heading.
  return threadsOf(layout, row) === 0 ? Math.min(last, row + 1) : row;
}

interface Cell {
  readonly column: number;
  readonly row: number;
}

const MOVES: Readonly<Record<string, (at: Cell) => Cell>> = {
  ArrowLeft: ({ column, row }) => ({ column: column - 1, row }),
  ArrowRight: ({ column, row }) => ({ column: column + 1, row }),
  ArrowUp: ({ column, row }) => ({ column, row: row - 1 }),
  ArrowDown: ({ column, row }) => ({ column, row: row + 1 }),
  PageUp: ({ column, row }) => ({ column, row: row - PAGE }),
  PageDown: ({ column, row }) => ({ column, row: row + PAGE }),
  Home: ({ row }) => ({ column: Number.NEGATIVE_INFINITY, row }),
  End: ({ row }) => ({ column: Number.POSITIVE_INFINITY, row }),
};
