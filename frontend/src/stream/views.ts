/**
 * Finished views: computed by the worker and drawn by the page, about ten times a second for charts
 * and tiles, twice for the table. Times named `_s` are seconds since attach; `_ms` with `unix` in
 * the name are Unix milliseconds. A value missing in the kernel is NaN (in arrays) or null, never
 * 0.
 */

import type { TargetEvent } from "../wire/generated/models";
import type { TimePart } from "./breakdown";
import type { Inexact } from "./inexact";
import type { ChartId, TableRequest, ThreadKey } from "./viewRequest";

/** Unit of a shown value, for `formatValue` and `tickFormatter` of stream/format.ts. */
export type ShownUnit =
  | "W"
  | "J"
  | "cores"
  | "threads"
  | "s"
  | "bytes"
  | "bytes/s"
  | "1/s"
  | "count"
  | "share"
  | "ms";

/** One line of a chart. Its values are in the chart's `low` and `high`. */
export interface LineView {
  /** Null for "others" and for lines of the whole process. */
  readonly key: ThreadKey | null;
  readonly tid: number | null;
  /** Process ID in a group. */
  readonly pid?: number;
  readonly name: string;
  readonly role: string;
  /**
   * Colour by identity of the thread, process or role: `colourStyle(colour, theme)` of
   * chart/palette.ts.
   */
  readonly colour: number;
  readonly kind: "thread" | "others" | "process" | "part" | "spread";
  /** Index within a pair: 0 = read, voluntary, or the only one; 1 = written, involuntary. */
  readonly variant: 0 | 1;
  /** Name of the variant, for legends: "read", "written", "voluntary", …; "" without variants. */
  readonly variant_name: string;
  /** Kind of a spread band or line: range of all threads, middle half, or median. */
  readonly spread?: "range" | "quartiles" | "median";
  /** Part of time of a band in the times chart; `partStyle(part, theme)` styles it. */
  readonly part?: TimePart;
  readonly selected: boolean;
  readonly pinned: boolean;
  readonly exited: boolean;
  /** Last value in the window, in the chart's unit; NaN if none. */
  readonly last: number;
  /** Last value of a band's lower edge. */
  readonly last_low?: number;
}

/** A finished chart, in the unit shown. */
export interface ChartView {
  readonly chart: ChartId;
  readonly unit: ShownUnit;
  /**
   * ok: data is available. absent: the target lacks the field, see `reason`. waiting: not enough
   * data yet (a rate needs two samples).
   */
  readonly state: "ok" | "absent" | "waiting";
  readonly reason: string;
  /** Ends of the time axis. In a live window the right end runs up to half a step ahead. */
  readonly t0_s: number;
  readonly t1_s: number;
  /** Time of the attach, for converting seconds since attach into clock times. */
  readonly attached_unix_ms: number;
  /**
   * Number of columns, in time order: one per sample, or one per pixel column if samples outnumber
   * pixels.
   */
  readonly columns: number;
  /** Float64[columns], seconds since attach. */
  readonly time_s: Float64Array;
  /** Float64[lines * columns], row-major: lowest value in the column; NaN if none. */
  readonly low: Float64Array;
  /** Column with the highest value; the same array as `low` if columns are single samples. */
  readonly high: Float64Array;
  readonly lines: readonly LineView[];
  /**
   * Largest value of the value axis; 0 if none. If "others" would flatten the threads' lines, it is
   * excluded: `others_above` is true, and TimeChart notes its value at the upper edge.
   */
  readonly y_max: number;
  readonly others_above: boolean;
  /** Lines are stacked bands from `low` to `high`; all add up to the whole. */
  readonly stacked: boolean;
  /** Role whose threads are the lines, if one of several; null: the lines cover everything. */
  readonly opened: {
    readonly key: ThreadKey;
    readonly name: string;
    readonly threads: number;
  } | null;
  /** Upper bounds of the sum. */
  readonly limits: readonly LimitView[];
  /** Draw as steps (a gauge that holds until it changes). */
  readonly step: boolean;
  /** Averaging time of the rates, in seconds; 0 without smoothing. */
  readonly smoothing_s: number;
  /** Extremes of rates between the instants of a run; null if no sample is skipped. */
  readonly peaks: PeaksView | null;
  /** Number of threads in "others". */
  readonly others: number;
  /** Time spans with lost frames, in seconds since attach. */
  readonly gaps: readonly (readonly [number, number])[];
  /**
   * Only in the times chart, whose lines are bands stacked up to 1. Column k holds from time_s[k]
   * to time_s[k + 1]; the last one only ends the previous.
   */
  readonly times?: TimesView;
}

/** A horizontal line for a limit of the total. */
export interface LimitView {
  readonly name: string;
  readonly value: number;
}

/**
 * Least and greatest rates up to each column of a chart. For "others" they are bounds of the sum's
 * extremes.
 */
export interface PeaksView {
  /** Float64[lines * columns], row-major; NaN if unknown. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Averaging time of the rates, and the time span of each pair, in seconds. */
  readonly over_s: number;
  readonly within_s: number;
}

/** Time breakdown of threads within the window. */
export interface TimesView {
  /**
   * Scope of the chart: everything that matches the filter, a process of a group, a role, or a
   * thread.
   */
  readonly scope: "process" | "member" | "role" | "thread";
  readonly name: string;
  readonly whole: TimesRow;
  /** Rows by role, busiest first. */
  readonly roles: readonly TimesRow[];
  /** Parts missing for some or all threads, with the reason. */
  readonly absent: readonly { readonly part: TimePart; readonly reason: string }[];
  /** Whether parts are ledger states; if not, the reason, or null if unknown. */
  readonly ledger: boolean;
  readonly no_ledger: string | null;
}

/** Time breakdown of some threads. */
export interface TimesRow {
  /** "role:NAME" for a role. */
  readonly key: ThreadKey;
  readonly name: string;
  readonly colour: number;
  /** Number of threads that lived within the window. */
  readonly threads: number;
  /** Thread-seconds within the window: the sum of all parts. */
  readonly wall_s: number;
  /** Idle thread-seconds excluded by folding. */
  readonly folded_s: number;
  /** Seconds per part; NaN if unavailable (and included in another part). */
  readonly parts: Readonly<Record<TimePart, number>>;
}

/** The requested part of the table. */
export interface TableView {
  /** The request answered; compare by identity to detect stale answers. */
  readonly offset: number;
  /** Number of rows that match the filter. */
  readonly total: number;
  /**
   * Number of exited threads no longer listed (the last 2,000 are kept); the process' totals
   * include them.
   */
  readonly folded: number;
  readonly group: TableRequest["group"];
  /** Fields of `rates` and `totals`: the target's, in its order. */
  readonly fields: readonly string[];
  readonly rows: readonly TableRow[];
  /** Averaging time of rates, in seconds; NaN with only one sample. */
  readonly rate_span_s: number;
  /** Estimated power per core of CPU used by a row, in watts; NaN if unknown. */
  readonly watts_per_core: number;
  /** Reference time for the ages of rows. */
  readonly now_s: number;
}

/** A process of a group. */
export interface ProcessName {
  readonly key: ThreadKey;
  readonly pid: number;
  readonly name: string;
  /** Command line or title; "" while unknown. */
  readonly title: string;
}

/** One row: a thread, a role, or a process. */
export interface TableRow {
  /** Key of the row; for a role within a process "PROCESS/role:NAME". */
  readonly key: ThreadKey;
  readonly kind: "thread" | "role" | "process";
  /** Depth in the tree, from 1; whether its children follow, or null if it has none. */
  readonly depth: number;
  readonly open: boolean | null;
  /** Thread ID, or null for a role or process. */
  readonly tid: number | null;
  /** Process in a group; for a role, one of its processes. */
  readonly process: ProcessName | null;
  readonly name: string;
  readonly role: string;
  readonly colour: number;
  /** live: counters grew within the rate span. idle: alive without growth. exited: ended. */
  readonly state: "live" | "idle" | "exited";
  /**
   * False if the totals of an exited thread are its last sample, for lack of an exit record. For a
   * role, false if that holds for any thread.
   */
  readonly exact: boolean;
  /** Number of live threads in the row; 1 or 0 for a thread. */
  readonly threads: number;
  /** Start, and end if ended, in seconds since attach; the earliest of a role. */
  readonly start_s: number;
  readonly end_s: number | null;
  readonly pinned: boolean;
  readonly selected: boolean;
  /**
   * Float64[fields], raw unit of the catalogue per second. NaN: absent if `totals` is NaN too,
   * otherwise not enough data yet. `shownRate(field, value)` of stream/format.ts converts to a
   * shown unit.
   */
  readonly rates: Float64Array;
  /** Float64[fields], raw unit of the catalogue, since the thread's start; NaN if absent. */
  readonly totals: Float64Array;
  /** Inexact values in otherwise exact fields. */
  readonly inexact: readonly Inexact[];
  /** Recent rate of `spark_field`, oldest first; NaN if unknown. */
  readonly spark: Float32Array;
}

/** A value relative to its own last minutes (stream/assessment.ts). */
export interface Assessment {
  /** far: too many spreads off for a fluctuation. */
  readonly level: "normal" | "high" | "far_high" | "low" | "far_low";
  /** Trend of the last seconds against the earlier ones. */
  readonly trend: "rising" | "falling" | "steady";
  /** Median of the reference, in the unit of the value. */
  readonly median: number;
  /** Typical distance of values from the median, comparable to a standard deviation. */
  readonly spread: number;
  /** Length of the reference, in seconds. */
  readonly over_s: number;
}

export interface TileView {
  readonly id: TileId;
  readonly label: string;
  readonly unit: ShownUnit;
  readonly state: "ok" | "absent" | "waiting";
  /** Why the tile is absent, in the collector's words. */
  readonly reason: string;
  /** Current value (a mean over about a second); NaN unless ok. */
  readonly value: number;
  /** Second value of a pair (written, sent, exited), with its name; null without a pair. */
  readonly second: { readonly label: string; readonly value: number } | null;
  /** Name of the first value of a pair (read, received, born); "" without a pair. */
  readonly first_label: string;
  /** Values over the time window, oldest first, 60 points; NaN if unknown. */
  readonly spark: Float32Array;
  /**
   * Assessment against the last five minutes; null for too little data, or if the value is no rate.
   */
  readonly assessment: Assessment | null;
  /** Note on the values, such as an estimation method. */
  readonly note?: string;
}

export type TileId =
  | "cpu"
  | "wait"
  | "blkio"
  | "network"
  | "disk"
  | "switches"
  | "threads" // value: live; second: none
  | "ops" // operations per second of a steered program; only while steered
  | "power" // energy of the machine's packages, and an estimate for the process
  | "turnover"; // threads born and exited since attach

/** An event; the newest is last in `EventsView.events`. */
export interface EventView {
  /** Consecutive number; a stable React key. */
  readonly id: number;
  readonly t_s: number;
  readonly unix_ms: number;
  /** For a series of equal events: its start, and the number of events. */
  readonly since_unix_ms: number;
  readonly times: number;
  /** The event from the wire; a gap detected by the page is a `gap` too. */
  readonly event: TargetEvent;
}

/** The last events (at most 500), and the number of events ever. */
export interface EventsView {
  readonly events: readonly EventView[];
  /** The events belong to a chosen window. */
  readonly of_window: boolean;
  readonly total: number;
}

/** Progress of reading a run for the visible window. */
export interface Reading {
  /** loading: a finer picture is being read; the previous one stays. */
  readonly state: "loading" | "ready" | "failed";
  /** Time between the shown instants, in seconds; NaN before the first. */
  readonly step_s: number;
  /** No sample of the run is skipped. */
  readonly raw: boolean;
  /** Reason of the failure; "" if none. */
  readonly reason: string;
}

/** CPU of the process over a whole run. */
export interface Outline {
  readonly from_s: number;
  readonly to_s: number;
  /** Cores, one value per equal part of the time; NaN if unknown. */
  readonly cores: Float32Array;
}
