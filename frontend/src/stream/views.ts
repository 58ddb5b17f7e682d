/**
 * Finished views: what the worker computes and the page draws, about ten times a second for charts
 * and tiles and about twice a second for the table.
 *
 * Times named `_s` are seconds since attach, `_ms` with `unix` in the name are Unix milliseconds. A
 * value that the kernel did not give is NaN (in arrays) or null, never 0.
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
import type { Inexact } from "./inexact";
import type { CpuCheck } from "./reconciliation";
import type { ChartId, TableRequest, ThreadKey } from "./viewRequest";

/** Unit of a value that is shown, for `formatValue` and `tickFormatter` of stream/format.ts. */
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
  /** Null for "others" and for lines of the process as a whole. */
  readonly key: ThreadKey | null;
  readonly tid: number | null;
  /** Of a process of a group. */
  readonly pid?: number;
  readonly name: string;
  readonly role: string;
  /** By identity of the thread, process or role: `colourStyle(colour, theme)` of chart/palette.ts. */
  readonly colour: number;
  readonly kind: "thread" | "others" | "process" | "part" | "spread";
  /** Which of a pair: 0 = read, voluntary, or the only one; 1 = written, involuntary. */
  readonly variant: 0 | 1;
  /** Name of the variant, for legends: "read", "written", "voluntary", …; "" if there is one. */
  readonly variant_name: string;
  /** Of a spread: from the least to the greatest of all threads, their middle half, or the median. */
  readonly spread?: "range" | "quartiles" | "median";
  /** What a band of the times chart is: `partStyle(part, theme)` gives its looks. */
  readonly part?: TimePart;
  readonly selected: boolean;
  readonly pinned: boolean;
  readonly exited: boolean;
  /** Last value in the window, in the chart's unit; NaN if there is none. */
  readonly last: number;
  /** Of a band: the last value of its lower edge. */
  readonly last_low?: number;
}

/** A finished chart: what to draw, in the unit to show. */
export interface ChartView {
  readonly chart: ChartId;
  readonly unit: ShownUnit;
  /**
   * ok: draw. absent: the target does not give the field, see `reason`. waiting: not enough data
   * yet (a rate needs two samples).
   */
  readonly state: "ok" | "absent" | "waiting";
  readonly reason: string;
  /** Ends of the time axis. In a live window the right end runs up to half a step ahead. */
  readonly t0_s: number;
  readonly t1_s: number;
  /** Attach, to turn seconds since attach into clock times. */
  readonly attached_unix_ms: number;
  /** Columns, in time order: one a sample, or one a pixel column when there are more samples. */
  readonly columns: number;
  /** Float64[columns], seconds since attach. */
  readonly time_s: Float64Array;
  /** Float64[lines * columns], row-major: lowest value in the column; NaN where there is none. */
  readonly low: Float64Array;
  /** The same with the highest; the very same array as `low` if columns are single samples. */
  readonly high: Float64Array;
  readonly lines: readonly LineView[];
  /**
   * Largest value that the value axis must show; 0 if none. It leaves "others" out where they would
   * press the threads' lines flat: then `others_above` is true, that line is outside of the plot,
   * and TimeChart says so at the upper edge.
   */
  readonly y_max: number;
  readonly others_above: boolean;
  /** Lines are bands from `low` to `high`, each on the one before; they add up to the whole. */
  readonly stacked: boolean;
  /** What the lines are of, if that is one role of several, or its threads; null: of all. */
  readonly opened: {
    readonly key: ThreadKey;
    readonly name: string;
    readonly threads: number;
  } | null;
  /** Values that the sum cannot exceed. */
  readonly limits: readonly LimitView[];
  /** Draw as steps (a gauge that holds until it changes). */
  readonly step: boolean;
  /** Rates are means over at least this long, in seconds; 0 where nothing is smoothed. */
  readonly smoothing_s: number;
  /** How far rates were apart between the instants of a run; null: each sample is shown. */
  readonly peaks: PeaksView | null;
  /** How many threads "others" stands for. */
  readonly others: number;
  /** Stretches of time for which frames were lost, seconds since attach. */
  readonly gaps: readonly (readonly [number, number])[];
  /**
   * Of the times chart only: its lines are bands from `low` to `high`, stacked up to 1; column k
   * holds from time_s[k] to time_s[k + 1], the last one is the end of the one before.
   */
  readonly times?: TimesView;
}

/** A level line: what holds back the sum of all lines. */
export interface LimitView {
  readonly name: string;
  readonly value: number;
}

/**
 * Least and greatest rates up to each column of a chart. Of "others" they are bounds: the sum of all
 * threads was at least as high, and at least as low.
 */
export interface PeaksView {
  /** Float64[lines * columns], row-major; NaN where it is not known. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** What the rates are means over, and within how long a time each pair is, seconds. */
  readonly over_s: number;
  readonly within_s: number;
}

/** Where the time of threads went within the window. */
export interface TimesView {
  /** What the chart is of: all that fits the filter, a process of a group, a role, or a thread. */
  readonly scope: "process" | "member" | "role" | "thread";
  readonly name: string;
  readonly whole: TimesRow;
  /** By role, busiest first. */
  readonly roles: readonly TimesRow[];
  /** Parts that are not there, or are there for some threads only, and why. */
  readonly absent: readonly { readonly part: TimePart; readonly reason: string }[];
  /** Whether parts are states of ledgers, and why not: null where nobody says. */
  readonly ledger: boolean;
  readonly no_ledger: string | null;
}

/** Where the time of some threads went. */
export interface TimesRow {
  /** "role:NAME" for a role. */
  readonly key: ThreadKey;
  readonly name: string;
  readonly colour: number;
  /** Threads that lived within the window. */
  readonly threads: number;
  /** Thread-seconds within the window: what all parts add up to. */
  readonly wall_s: number;
  /** Seconds of threads that waited for work, left out because that is folded away. */
  readonly folded_s: number;
  /** Seconds a part; NaN where it is not available (then it is within another part). */
  readonly parts: Readonly<Record<TimePart, number>>;
}

/** The part of the table that was asked for. */
export interface TableView {
  /** The request it answers; compare by identity with what was asked, to see that it is current. */
  readonly offset: number;
  /** Rows that fit the filter, in all. */
  readonly total: number;
  /**
   * Exited threads that are no longer listed, because there were too many (2,000 are kept); they
   * are still in the totals of the process.
   */
  readonly folded: number;
  readonly group: TableRequest["group"];
  /** Fields of the columns of `rates` and `totals`: those of the target, in its order. */
  readonly fields: readonly string[];
  readonly rows: readonly TableRow[];
  /** Rates are means over this long (seconds); NaN while there is only one sample. */
  readonly rate_span_s: number;
  /** Estimated power for each core of CPU that a row uses, watts; NaN if it is not known. */
  readonly watts_per_core: number;
  /** Ages of rows are as of then. */
  readonly now_s: number;
}

/** A process of a group. */
export interface ProcessName {
  readonly key: ThreadKey;
  readonly pid: number;
  readonly name: string;
  /** Command line or title; "" while that is not known. */
  readonly title: string;
}

/** One row: a thread, all threads of a role, or all of a process. */
export interface TableRow {
  /** Of a role within a process "PROCESS/role:NAME". */
  readonly key: ThreadKey;
  readonly kind: "thread" | "role" | "process";
  /** How deep it lies in the tree, from 1; whether its parts follow it, null: it has none. */
  readonly depth: number;
  readonly open: boolean | null;
  /** Null for what is not one thread. */
  readonly tid: number | null;
  /** Of a group: its process; of a role one of them. */
  readonly process: ProcessName | null;
  readonly name: string;
  readonly role: string;
  readonly colour: number;
  /** live: counters move or moved in the rate span. idle: live, nothing moved. exited: it ended. */
  readonly state: "live" | "idle" | "exited";
  /**
   * False if an exited thread's totals are its last sample, because no exit record came; of a role,
   * if that is so of one of its threads.
   */
  readonly exact: boolean;
  /** Live threads in the row (roles); 1 or 0 for a thread. */
  readonly threads: number;
  /** Start, and end if it ended, in seconds since attach; the earliest of a role. */
  readonly start_s: number;
  readonly end_s: number | null;
  readonly pinned: boolean;
  readonly selected: boolean;
  /**
   * Float64[fields], raw unit of the catalogue per second. NaN: `totals` tells whether the field is
   * absent (NaN too) or there is not enough data yet. Use `shownRate(field, value)` of
   * stream/format.ts to turn it into a unit to show.
   */
  readonly rates: Float64Array;
  /** Float64[fields], raw unit of the catalogue, since the thread's start; NaN = absent. */
  readonly totals: Float64Array;
  /** Values that are not exact although their field is. */
  readonly inexact: readonly Inexact[];
  /** Recent rate of `spark_field`, oldest first; NaN where there is none. */
  readonly spark: Float32Array;
}

/** How a value stands against its own last minutes (stream/usual.ts). */
export interface Usual {
  /** far: so many spreads off that it is no fluctuation. */
  readonly level: "usual" | "high" | "far_high" | "low" | "far_low";
  /** Of the last seconds against those before them. */
  readonly trend: "rising" | "falling" | "steady";
  /** Of the reference, in the unit of the value. */
  readonly median: number;
  /** How far values are from the median as a rule: as a standard deviation is of normal ones. */
  readonly spread: number;
  /** Seconds that the reference covers. */
  readonly over_s: number;
}

/** One tile. */
export interface TileView {
  readonly id: TileId;
  readonly label: string;
  readonly unit: ShownUnit;
  readonly state: "ok" | "absent" | "waiting";
  /** Why it is absent, in words of the collector. */
  readonly reason: string;
  /** Value now (a mean over about a second); NaN unless ok. */
  readonly value: number;
  /** Second value of a pair (written, sent, exited), with its name; null if there is none. */
  readonly second: { readonly label: string; readonly value: number } | null;
  /** Name of the first value of a pair (read, received, born); "" if there is no pair. */
  readonly first_label: string;
  /** Over the time window, oldest first, 60 points; NaN where there is none. */
  readonly spark: Float32Array;
  /** Against its own last five minutes; null while too little of them is known, or it is no rate. */
  readonly usual: Usual | null;
  /** What is to be known of the values, such as how one of them is estimated. */
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
  | "ops" // operations a second of a steered program; only while it is steered
  | "power" // energy of the machine's packages, and an estimate for the process
  | "turnover"; // threads born and exited since attach

/** Something that happened, newest last in `EventsView.events`. */
export interface EventView {
  /** Grows by one; a stable React key. */
  readonly id: number;
  readonly t_s: number;
  readonly unix_ms: number;
  /** Of a series of equal events: when it began, and how many there were. */
  readonly since_unix_ms: number;
  readonly times: number;
  /** From the wire; gaps that the page found by itself come as `gap` too. */
  readonly event: TargetEvent;
}

/** The last events (at most 500), and how many there were. */
export interface EventsView {
  readonly events: readonly EventView[];
  /** They are those of a window that was chosen. */
  readonly of_window: boolean;
  readonly total: number;
}

/** How good the data is. */
export interface DataHealth {
  /** CPU of the process and of its threads, live and ended, since attach. */
  readonly cpu_check: CpuCheck | null;
  /** Threads that ended without an exit record since attach. */
  readonly exits_inexact: number;
  /** Samples a second that were asked for. */
  readonly rate_hz: number;
  /** Those in effect: less if the collector's CPU budget is spent. NaN until it is known. */
  readonly in_force_hz: number;
  /** Whether they are less because frames wait to be delivered. */
  readonly slowed_by_backlog: boolean;
  /** Rate that really arrived over the last 5 s or so; NaN until it is known. */
  readonly arriving_hz: number;
  /** Collector, of the last sample. */
  readonly sample_us: number;
  /** Mean and longest of its last five to ten seconds. */
  readonly sample_mean_us: number;
  readonly sample_max_us: number;
  readonly late_us: number;
  readonly missed_deadlines: number;
  readonly exit_records_received: number;
  readonly exit_records_lost: number;
  readonly collector_cpu_percent: number | null;
  /** Of it sampling and sending, all targets together, and what that may take; 0: no limit. */
  readonly overhead_percent: number | null;
  readonly budget_percent: number;
  /** Frames that the collector holds for replay, those not sent yet, and all bytes that it sent. */
  readonly replay_frames: number;
  readonly replay_bytes: number;
  readonly unsent_frames: number;
  /** Frames of this target that the collector dropped before the backend had them. */
  readonly frames_dropped: number;
  /** Exited threads that are in the totals only: there were too many to report each. */
  readonly exits_without_event: number;
  /** Socket calls that the eBPF program could not count, host-wide. */
  readonly network_calls_uncounted: number;
  /** How the counters of the last sample were read; null if none were. */
  readonly counters_from: CountersSource | null;
  /** Where a walk and taskstats disagreed; null if they never did. */
  readonly counters_disagreement: string | null;
  /** Why locks cannot be read or named; null if they can, or there are none. */
  readonly locks_reason: string | null;
  readonly sent_bytes: number;
  /** Instants merged into later frames on the way here, by sequence numbers; no totals lost. */
  readonly coalesced: number;
  /** Frames that never came, by sequence numbers, and in how many gaps. */
  readonly missing_frames: number;
  readonly gaps: number;
  /** Of a group: how many processes it has and had. */
  readonly group: GroupCounts | null;
  /** How processes are found that join the group, and why so; null: it is no group. */
  readonly discovery: Pick<Group, "discovery" | "discovery_reason"> | null;
  /** As the backend counts for this page; null until it has reported. */
  readonly stream: StreamStats | null;
  /** Sample taken to frame received in the worker, ms (clocks of one host; else null if absurd). */
  readonly latency_ms: number | null;
  readonly frames: number;
  readonly last_frame_unix_ms: number;
  /** Frames that could not be decoded, and the last reason. */
  readonly bad_frames: number;
  readonly bad_frame_reason: string;
  /** Seconds since attach of the oldest instant still kept, and bytes that the rings take. */
  readonly history_from_s: number;
  readonly history_bytes: number;
}

/** The followed target as a whole, at the newest instant (or at the frozen one when paused). */
export interface TargetView {
  /** Null until the backend has reported it. */
  readonly target: Target | null;
  readonly id: string;
  /**
   * loading: no frame yet. live: frames come. quiet: attached, but none came for 3 s. ended: the
   * process exited or was detached, the charts stay.
   */
  readonly state: "loading" | "live" | "quiet" | "ended";
  /** Set when ended because the process exited and the exit status is known. */
  readonly exit_code: number | null;
  readonly now_s: number;
  /** Ends of the time axis in effect. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly live_threads: number;
  /** Since attach. */
  readonly born_threads: number;
  /** Since attach. */
  readonly exited_threads: number;
  /** Of a group: how many processes it has and had. */
  readonly group: GroupCounts | null;
  readonly gomaxprocs: number | null;
  readonly rss_bytes: number | null;
  /** Energy of the machine's packages since attach, joules; null if it is not known. */
  readonly energy_j: number | null;
  /** Energy is missing in it: a counter started again. */
  readonly energy_is_part: boolean;
  readonly paused: boolean;
  /** What is wrong with the filter, if it is not a regular expression; "" if nothing is. */
  readonly filter_problem: string;
}

/** How far a run has been read for the window in view. */
export interface Reading {
  /** loading: a better picture is on its way; the one before stays. */
  readonly state: "loading" | "ready" | "failed";
  /** Time between the instants that are shown, seconds; NaN before the first. */
  readonly step_s: number;
  /** Each sample of the run stands for itself. */
  readonly raw: boolean;
  /** Why it failed; "" if it did not. */
  readonly reason: string;
}

/** CPU of the process over a whole run. */
export interface Outline {
  readonly from_s: number;
  readonly to_s: number;
  /** Cores, a value for each equal part of the time; NaN where nothing is known. */
  readonly cores: Float32Array;
}
