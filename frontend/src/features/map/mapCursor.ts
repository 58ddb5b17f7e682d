/** The thread map's cursor under the keyboard. */

import { type MapLayout, rowAt, threadsOf } from "../../stream/mapLayout";
import type { MapPicture } from "../../stream/mapPicture";
import { keyAt, placeAt, placeOf } from "../../stream/mapPicture";
import { columnAtTime } from "./mapText";

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
