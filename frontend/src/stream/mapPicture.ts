/** The page's thread map: a ring of columns, assembled from the worker's views. */

import { type MapLayout, NO_LAYOUT, nearestPlace } from "./mapLayout";
import { STATE_FIELD } from "./states";
import type { MapMix } from "./viewRequest";
import type { ShownUnit } from "./views";

/** Marker in `values`: the thread exists, but lacks the field. NaN: no thread. */
export const NO_FIELD = -1;

/** An update of the map. */
export interface MapView {
  /** absent: the target lacks the field. waiting: fewer than two samples. */
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
  /** Length of a column, in seconds and in CSS pixels. */
  readonly bin_s: number;
  readonly bin_px: number;
  /** Number of columns that fit into the window. */
  readonly capacity: number;
  /** Row layout; null if unchanged. */
  readonly layout: MapLayout | null;
  /**
   * Rows are unchanged, with or without a layout; the columns below are new or replace the last
   * ones.
   */
  readonly continues: boolean;
  /** Number of the first column given, and number of columns. */
  readonly from: number;
  readonly columns: number;
  /**
   * Float32[columns * rows], column by column, in `unit`; may be NO_FIELD or NaN. In a map of
   * states: the number of the dominant state.
   */
  readonly values: Float32Array;
  /** Uint16[columns * rows]: number of the highest thread in its row. */
  readonly highest: Uint16Array;
  /** Uint32[columns * rows]: distribution of time, in a map of states; see states.ts. */
  readonly shares: Uint32Array;
  /** Float32[columns]: largest value. Uint16[columns]: threads born and exited. */
  readonly peak: Float32Array;
  readonly born: Uint16Array;
  readonly exited: Uint16Array;
  /** Start of the field's recorded past, if later than the page's first sample. */
  readonly since_s: number | null;
  /** The page's first sample, in seconds since attach. */
  readonly first_s: number;
  /** Time spans with lost frames, in seconds since attach. */
  readonly gaps: readonly (readonly [number, number])[];
}

/** The drawable map. A new object for each view, sharing arrays until rows change. */
export interface MapPicture {
  /** Newest view: state, times, lengths. */
  readonly view: MapView;
  readonly layout: MapLayout;
  /** Incremented when all columns are new. */
  readonly edition: number;
  /** Incremented with each new layout. */
  readonly layouts: number;
  /** Columns held: [from, to); column k is at k modulo the capacity. */
  readonly from: number;
  readonly to: number;
  /** First column changed by the newest view. */
  readonly changed: number;
  readonly values: Float32Array;
  readonly highest: Uint16Array;
  readonly shares: Uint32Array;
  readonly peak: Float32Array;
  readonly born: Uint16Array;
  readonly exited: Uint16Array;
}

/** Apply one more view to the picture. */
export function nextPicture(before: MapPicture | null, view: MapView): MapPicture | null {
  const { layout, from, columns, capacity } = view;
  const layouts = (before?.layouts ?? 0) + (layout === null ? 0 : 1);
  if (view.state === "ok" && view.continues) {
    // An update that does not fit the held columns is dropped: a fitting one follows.
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

/** Index of a column in the ring. */
export function ringPlace(column: number, capacity: number): number {
  return ((column % capacity) + capacity) % capacity;
}

/** Value of a cell; NaN outside the held columns. */
export function cellValue(picture: MapPicture, column: number, row: number): number {
  const { view, layout, values } = picture;
  if (column < picture.from || column >= picture.to) return Number.NaN;
  return values[ringPlace(column, view.capacity) * layout.rows + row] ?? Number.NaN;
}

/** Distribution of a cell's time among states; 0 if empty. */
export function cellShares(picture: MapPicture, column: number, row: number): number {
  const { view, layout, shares } = picture;
  if (column < picture.from || column >= picture.to) return 0;
  return shares[ringPlace(column, view.capacity) * layout.rows + row] ?? 0;
}

/** Largest value of the visible columns. */
export function peakInSight({ view, from, to, peak }: MapPicture): number {
  let most = 0;
  for (let k = Math.max(from, Math.floor(view.t0_s / view.bin_s)); k < to; k++) {
    most = Math.max(most, peak[ringPlace(k, view.capacity)] ?? 0);
  }
  return most;
}

/**
 * Index in the layout of a cell's representative thread: the highest of the row at that moment, or
 * else the nearest in time.
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

/** Key of the thread at an index of the layout. */
export function keyAt(layout: MapLayout, place: number): string | null {
  const tid = layout.tid[place];
  return tid === undefined ? null : `${tid}@${layout.start_ns[place] ?? 0}`;
}

/** Index of a thread in the layout; -1 if missing. */
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
