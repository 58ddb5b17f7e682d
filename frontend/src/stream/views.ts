/**
 * Finished views: computed by the worker and drawn by the page, about ten times a second for charts
 * and tiles, twice for the table. Times named `_s` are seconds since attach; `_ms` with `unix` in
 * the name are Unix milliseconds. A value missing in the kernel is NaN (in arrays) or null, never
 * 0.
 */

import type {
  CountersSource,
  Group,
  GroupCounts,
  StreamStats,
  Target,
  TargetEvent,
} from "../wire/generated/models";
import type { TimePart } from "./breakdown";
import type { CpuCheck, Inexact } from "./inexact";
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
  /** The same with the highest value; the same array as `low` if columns are single samples. */
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

/** A value relative to its own last minutes (stream/usual.ts). */
export interface Usual {
  /** far: too many spreads off for a fluctuation. */
  readonly level: "usual" | "high" | "far_high" | "low" | "far_low";
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
  readonly usual: Usual | null;
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

/** Data quality. */
export interface DataHealth {
  /** CPU of the process, and of its live and ended threads, since attach. */
  readonly cpu_check: CpuCheck | null;
  /** Threads that ended without an exit record since attach. */
  readonly exits_inexact: number;
  /** Requested sampling rate, in Hz. */
  readonly rate_hz: number;
  /** Sampling rate in effect: lower if the collector's CPU budget is exhausted. NaN until known. */
  readonly in_force_hz: number;
  /** Whether the rate is reduced because of undelivered frames. */
  readonly slowed_by_backlog: boolean;
  /** Rate of received samples over about the last 5 s; NaN until known. */
  readonly arriving_hz: number;
  /** The collector's time for the last sample. */
  readonly sample_us: number;
  /** Mean and maximum over the last five to ten seconds. */
  readonly sample_mean_us: number;
  readonly sample_max_us: number;
  readonly late_us: number;
  readonly missed_deadlines: number;
  readonly exit_records_received: number;
  readonly exit_records_lost: number;
  readonly collector_cpu_percent: number | null;
  /** Share of CPU for sampling and sending, all targets together, and its limit; 0 for no limit. */
  readonly overhead_percent: number | null;
  readonly budget_percent: number;
  /**
   * Number of frames held for replay, number of unsent ones, and total bytes sent by the collector.
   */
  readonly replay_frames: number;
  readonly replay_bytes: number;
  readonly unsent_frames: number;
  /** Frames of this target that the collector dropped before delivery to the backend. */
  readonly frames_dropped: number;
  /** Exited threads present in the totals only: too many for individual reports. */
  readonly exits_without_event: number;
  /** Socket calls that the eBPF program failed to count, host-wide. */
  readonly network_calls_uncounted: number;
  /** Source of the last sample's counters; null if none were read. */
  readonly counters_from: CountersSource | null;
  /** Mismatch between bulk reads and taskstats; null if never. */
  readonly counters_disagreement: string | null;
  /** Why locks cannot be read or named; null if they can, or if there are none. */
  readonly locks_reason: string | null;
  readonly sent_bytes: number;
  /** Instants coalesced into later frames in transit, by sequence numbers; totals are complete. */
  readonly coalesced: number;
  /** Lost frames by sequence numbers, and the number of gaps. */
  readonly missing_frames: number;
  readonly gaps: number;
  /** Number of current and past processes of a group; null otherwise. */
  readonly group: GroupCounts | null;
  /** Method of discovering processes that join the group, and the reason; null without a group. */
  readonly discovery: Pick<Group, "discovery" | "discovery_reason"> | null;
  /** The backend's statistics for this page; null until reported. */
  readonly stream: StreamStats | null;
  /**
   * Latency from sampling to reception in the worker, ms (clocks of one host; null if implausible).
   */
  readonly latency_ms: number | null;
  readonly frames: number;
  readonly last_frame_unix_ms: number;
  /** Number of undecodable frames, and the last reason. */
  readonly bad_frames: number;
  readonly bad_frame_reason: string;
  /** Oldest retained instant, in seconds since attach, and memory of the rings in bytes. */
  readonly history_from_s: number;
  readonly history_bytes: number;
}

/** The followed target as a whole, at the newest instant (or the freeze instant when paused). */
export interface TargetView {
  /** Null until the backend has reported the target. */
  readonly target: Target | null;
  readonly id: string;
  /**
   * loading: no frame yet. live: frames arrive. quiet: attached, but no frame for 3 s. ended:
   * exited or detached; the charts stay.
   */
  readonly state: "loading" | "live" | "quiet" | "ended";
  /** Exit code, if the process exited with a known status. */
  readonly exit_code: number | null;
  readonly now_s: number;
  /** Ends of the time axis in effect. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly live_threads: number;
  /** Since attach. */
  readonly born_threads: number;
  /** Threads born since attach. */
  readonly exited_threads: number;
  /** Threads exited since attach. */
  readonly group: GroupCounts | null;
  readonly gomaxprocs: number | null;
  readonly rss_bytes: number | null;
  /** Energy of the machine's packages since attach, in joules; null if unknown. */
  readonly energy_j: number | null;
  /** The energy is incomplete: a counter restarted. */
  readonly energy_is_part: boolean;
  readonly paused: boolean;
  /** Error in the filter expression; "" if none. */
  readonly filter_problem: string;
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
