/** The thread map as the page holds it: a ring of columns, put together from what the worker sends. */

import { type MapLayout, NO_LAYOUT, nearestPlace } from "./mapLayout";
import { STATE_FIELD } from "./states";
import type { MapMix } from "./viewRequest";
import type { ShownUnit } from "./views";

/** In `values`: the thread is there, and the field is not. NaN: no thread is there. */
export const NO_FIELD = -1;

/** A part of the map. */
export interface MapView {
  /** absent: the target does not have the field. waiting: there are not two samples yet. */
  readonly state: "ok" | "absent" | "waiting";
  readonly reason: string;
  readonly field: string;
  readonly unit: ShownUnit;
  readonly mix: MapMix;
  /** Ends of the time axis in effect, and the newest instant, seconds since attach. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly now_s: number;
  readonly attached_unix_ms: number;
  /** Length of a column in seconds and in CSS pixels. */
  readonly bin_s: number;
  readonly bin_px: number;
  /** Columns that the window has room for. */
  readonly capacity: number;
  /** Null: as before. */
  readonly layout: MapLayout | null;
  /**
   * Rows are as before, with or without a layout, and the columns below are new or take the place of
   * the last ones.
   */
  readonly continues: boolean;
  /** Number of the first column given, and how many. */
  readonly from: number;
  readonly columns: number;
  /**
   * Float32[columns * rows], column after column, in `unit`; NO_FIELD and NaN as said there. Of a map
   * of states the number of the one that took most of the time.
   */
  readonly values: Float32Array;
  /** Uint16[columns * rows]: number of the highest thread in its row. */
  readonly highest: Uint16Array;
  /** Uint32[columns * rows]: of a map of states, how the time was shared; see states.ts. */
  readonly shares: Uint32Array;
  /** Float32[columns]: largest value. Uint16[columns]: threads born and exited. */
  readonly peak: Float32Array;
  readonly born: Uint16Array;
  readonly exited: Uint16Array;
  /** From when on the field's past is kept, if that is later than the page's first sample. */
  readonly since_s: number | null;
  /** The page's first sample. */
  readonly first_s: number;
  /** Stretches of time for which frames were lost, seconds since attach. */
  readonly gaps: readonly (readonly [number, number])[];
}

/** All that can be drawn. A new object for each view, over the same arrays until rows change. */
export interface MapPicture {
  /** Newest view: state, times, lengths. */
  readonly view: MapView;
  readonly layout: MapLayout;
  /** Grows when all columns are new. */
  readonly edition: number;
  /** Grows when there is another layout. */
  readonly layouts: number;
  /** Columns held: from `from` to before `to`; column k is at k modulo the capacity. */
  readonly from: number;
  readonly to: number;
  /** First of the columns that the newest view brought. */
  readonly changed: number;
  readonly values: Float32Array;
  readonly highest: Uint16Array;
  readonly shares: Uint32Array;
  readonly peak: Float32Array;
  readonly born: Uint16Array;
  readonly exited: Uint16Array;
}

/** The picture after one more view. */
export function nextPicture(before: MapPicture | null, view: MapView): MapPicture | null {
  const { layout, from, columns, capacity } = view;
  const layouts = (before?.layouts ?? 0) + (layout === null ? 0 : 1);
  if (view.state === "ok" && view.continues) {
    // A part that does not fit what is held: what fits is on its way.
    if (before?.view.state !== "ok" || from > before.to) return before;
    copyColumns(before, view);
    const to = from + columns;
    return {
      ...{ ...before, view, layout: layout ?? before.layout, layouts },
      ...{ from: Math.max(before.from, to - capacity), to, changed: from },
    };
  }
  const { rows } = layout ?? NO_LAYOUT;
  const picture: MapPicture = {
    view,
    layout: layout ?? NO_LAYOUT,
    edition: (before?.edition ?? 0) + 1,
    layouts,
    from: Math.max(from, from + columns - capacity),
    to: from + columns,
    changed: from,
    values: new Float32Array(capacity * rows),
    highest: new Uint16Array(capacity * rows),
    shares: new Uint32Array(view.field === STATE_FIELD ? capacity * rows : 0),
    peak: new Float32Array(capacity),
    born: new Uint16Array(capacity),
    exited: new Uint16Array(capacity),
  };
  copyColumns(picture, view);
  return picture;
}

function copyColumns(picture: MapPicture, view: MapView): void {
  const { rows } = picture.layout;
  const { capacity, from, columns } = view;
  for (let c = Math.max(0, columns - capacity); c < columns; c++) {
    const at = ringPlace(from + c, capacity);
    const own = view.values.subarray(c * rows, (c + 1) * rows);
    picture.values.set(own, at * rows);
    picture.highest.set(view.highest.subarray(c * rows, (c + 1) * rows), at * rows);
    if (picture.shares.length > 0) {
      picture.shares.set(view.shares.subarray(c * rows, (c + 1) * rows), at * rows);
    }
    picture.peak[at] = view.peak[c] ?? 0;
    picture.born[at] = view.born[c] ?? 0;
    picture.exited[at] = view.exited[c] ?? 0;
  }
}

/** Place of a column in the ring. */
export function ringPlace(column: number, capacity: number): number {
  return ((column % capacity) + capacity) % capacity;
}

/** Value of a cell; NaN outside of what is held. */
export function cellValue(picture: MapPicture, column: number, row: number): number {
  const { view, layout, values } = picture;
  if (column < picture.from || column >= picture.to) return Number.NaN;
  return values[ringPlace(column, view.capacity) * layout.rows + row] ?? Number.NaN;
}

/** How the time of a cell was shared among states; 0 where there is nothing. */
export function cellShares(picture: MapPicture, column: number, row: number): number {
  const { view, layout, shares } = picture;
  if (column < picture.from || column >= picture.to) return 0;
  return shares[ringPlace(column, view.capacity) * layout.rows + row] ?? 0;
}

/** Largest value of the columns in sight. */
export function peakInSight({ view, from, to, peak }: MapPicture): number {
  let most = 0;
  for (let k = Math.max(from, Math.floor(view.t0_s / view.bin_s)); k < to; k++) {
    most = Math.max(most, peak[ringPlace(k, view.capacity)] ?? 0);
  }
  return most;
}

/**
 * One thread of a cell, by its place in the layout: the highest of the row at that moment; where none
 * was there, the nearest in time.
 */
export function placeAt(picture: MapPicture, column: number, row: number): number {
  const { view, layout, highest } = picture;
  const first = layout.first[row] ?? 0;
  if (Number.isNaN(cellValue(picture, column, row))) {
    return nearestPlace(layout, row, (column + 0.5) * view.bin_s);
  }
  const number = highest[ringPlace(column, view.capacity) * layout.rows + row] ?? 0;
  return first + ((number - (layout.gone[row] ?? 0)) & 0xffff);
}

/** Identity of the thread in a place of the layout. */
export function keyAt(layout: MapLayout, place: number): string | null {
  const tid = layout.tid[place];
  return tid === undefined ? null : `${tid}@${layout.start_ns[place] ?? 0}`;
}

/** Place of a thread in the layout; -1 if it has none. */
export function placeOf(layout: MapLayout, key: string): number {
  const [tid = "", start = ""] = key.split("@");
  const wanted = Number(tid);
  const start_ns = Number(start);
  for (let place = layout.tid.indexOf(wanted); place >= 0; ) {
    if (layout.start_ns[place] === start_ns) return place;
    place = layout.tid.indexOf(wanted, place + 1);
  }
  return -1;
}
