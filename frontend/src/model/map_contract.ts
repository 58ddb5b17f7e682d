/**
 * The thread map: every thread × time as a heatmap. The worker sends all columns once, then only new
 * ones; `nextPicture` (map_picture.ts) puts them together again on the page's side.
 *
 * Columns are stretches of time anchored to the attachment: column k is [k·bin_s, (k+1)·bin_s).
 * Rows are threads sorted by role; where there are more threads than rows, several share one.
 */

import type { ShownUnit } from "./contract";

/** How the threads that share a row become one value. */
export type MapMix = "max" | "mean";

/** What the page wants to see. */
export interface MapRequest {
  /** A counter of the catalogue; its rate is the colour. */
  readonly field: string;
  readonly mix: MapMix;
  /** Width of the plot and rows there is room for, CSS pixels. */
  readonly width_px: number;
  readonly rows: number;
}

/** What a map request is until the page knows its size. */
export const DEFAULT_MAP: MapRequest = {
  field: "cpu_run_ns",
  mix: "max",
  width_px: 600,
  rows: 300,
};

/** Neighbouring rows of one role. */
export interface MapGroup {
  readonly role: string;
  readonly role_index: number;
  /** First row, and how many. */
  readonly row: number;
  readonly rows: number;
  readonly threads: number;
}

/** Which threads stand where. */
export interface MapLayout {
  readonly rows: number;
  /** Int32[rows + 1]: place of each row's first thread in the arrays below. */
  readonly first: Int32Array;
  /** Threads in row order: thread id, start in ns since attach, name. */
  readonly tid: Uint32Array;
  readonly start_ns: Float64Array;
  readonly names: readonly string[];
  readonly groups: readonly MapGroup[];
  /** Most threads that share a row; 1: none do. */
  readonly per_row: number;
}

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
  /** Ends of the time axis in force, and the newest instant, seconds since attach. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly now_s: number;
  readonly attached_unix_ms: number;
  /** Length of a column in seconds and in CSS pixels. */
  readonly bin_s: number;
  readonly bin_px: number;
  /** Columns that the window has room for. */
  readonly capacity: number;
  /** Null: as before, and the columns below are new or continue the last one. */
  readonly layout: MapLayout | null;
  /** Number of the first column given, and how many. */
  readonly from: number;
  readonly columns: number;
  /** Float32[columns * rows], column after column, in `unit`; NO_FIELD and NaN as said there. */
  readonly values: Float32Array;
  /** Uint16[columns * rows]: which thread of the row is the highest; empty if per_row is 1. */
  readonly highest: Uint16Array;
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
