/**
 * What pages may use of the data layer, and what crosses between the page and its worker.
 *
 * Everything heavy happens in the worker: socket, decoding, rings, rates, ranking, decimation. The
 * page states once what it wants to see (`ViewRequest`) and gets finished views back, about ten
 * times a second for charts and tiles and about twice a second for the table.
 *
 * How a page uses it:
 *
 *     import { createLiveClient } from "../live/client";       // one per app, made at start
 *     const client = createLiveClient();                       // opens /ws/live by itself
 *     const connection = useSyncExternalStore(client.connection.subscribe, client.connection.get);
 *     client.follow("t-100-deadbeef");                         // subscribe to a target
 *     client.request({ window: { kind: "last", seconds: 60 } });
 *     <TimeChart client={client} chart="cpu" theme={theme} />   // from "../charts/TimeChart"
 *
 * Charts that are mounted ask for their own view; a page need not list them. Table, tiles and
 * events are asked for in the `ViewRequest`.
 *
 * Words: times named `_s` are seconds since attach, `_ms` with `unix` in the name are Unix
 * milliseconds. A value that the kernel did not give is NaN (in arrays) or null, never 0.
 */

import type {
  LiveState,
  Problem,
  StreamStats,
  Target,
  TargetEvent,
} from "../wire/generated/models";
import type { Part } from "./breakdown";
import type { MapRequest, MapView } from "./map_contract";
import type { MapPicture } from "./map_picture";
import type { CpuCheck } from "./reconciliation";
import type { SteerView } from "./steer_contract";

// ---------------------------------------------------------------------------------------------
// Stores

/** Something that changes; `subscribe` and `get` fit useSyncExternalStore (they are bound). */
export interface Readable<T> {
  /** The value now; the same object until it changes. */
  readonly get: () => T;
  /** Calls the listener after each change; returns what ends it. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A store that the page sets itself. */
export interface Writable<T> extends Readable<T> {
  readonly set: (value: T) => void;
}

// ---------------------------------------------------------------------------------------------
// Connection

/**
 * State of the socket.
 *
 * - connecting: the first attempt is under way.
 * - open: messages flow.
 * - waiting: it was lost; the next attempt is at `retry_unix_ms` (count down to it).
 * - denied: no session, or an origin that is not served. Never retried by itself.
 * - refused: closed for a reason that trying again would not mend (protocol version, bad message).
 * - closed: the page closed it.
 */
export type Connection =
  | { readonly state: "connecting"; readonly attempt: number }
  | { readonly state: "open"; readonly since_unix_ms: number }
  | {
      readonly state: "waiting";
      readonly attempt: number;
      readonly retry_unix_ms: number;
      readonly reason: string;
    }
  | { readonly state: "denied" | "refused"; readonly code: number; readonly reason: string }
  | { readonly state: "closed" };

// ---------------------------------------------------------------------------------------------
// Requests

/** Identity of a thread: "TID@START_NS". Also used for roles in a grouped table: "role:NAME". */
export type ThreadKey = string;

/** The charts there are. */
export type ChartId =
  | "cpu" // CPU slope per thread, cores
  | "cpu_total" // cumulative CPU seconds per thread (s)
  | "disk" // cumulative bytes read and written per thread (bytes)
  | "network" // cumulative network bytes per thread (bytes); absent with its reason
  | "network_calls" // socket calls that moved something (1/s); absent with its reason
  | "switches" // voluntary and involuntary context switches (1/s)
  | "wait" // run-queue delay, share of a core
  | "blkio" // block I/O delay, share of a core; absent with its reason
  | "gomaxprocs" // size in force of what is steered, or GOMAXPROCS, step line
  | "ops" // operations a second at each decision of a policy; absent while nothing steers
  | "times"; // where the time goes: stacked shares of thread time; see `ChartView.times`

/** The part of time on every time axis. */
export type TimeWindow =
  | { readonly kind: "last"; readonly seconds: number }
  | { readonly kind: "fixed"; readonly t0_s: number; readonly t1_s: number };

/** What the table may be sorted by: identity, or the rate or total of a field of the catalogue. */
export type SortColumn =
  | { readonly by: "tid" | "name" | "role" | "state" | "age" }
  | { readonly by: "rate" | "total"; readonly field: string };

/** The part of the table that is on screen. */
export interface TableRequest {
  readonly sort: SortColumn;
  readonly descending: boolean;
  /** One row a thread, or one row a role. */
  readonly group: "thread" | "role";
  /** Threads that live, that have exited, or both. */
  readonly lives: "live" | "exited" | "all";
  /** First row wanted and how many (at most 200). */
  readonly offset: number;
  readonly limit: number;
  /** Field whose recent rate the sparklines show (one of `RING_FIELDS`). */
  readonly spark_field: string;
}

/** A run as the worker reads it: what it needs of the manifest. Times are seconds since attach. */
export interface RunSource {
  readonly id: string;
  /** Address of its frames, without a query. */
  readonly url: string;
  readonly target: Target;
  /** Its first instant and its last. */
  readonly from_s: number;
  readonly to_s: number;
  /** Instants that it holds, and rows (a thread at an instant) of all of them. */
  readonly instants: number;
  readonly rows: number;
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

/** Ends of what can be looked at, seconds since attach. */
export interface Extent {
  readonly t0_s: number;
  readonly t1_s: number;
}

/** All that the page wants to see. `LiveClient.request` merges a part of it into what is in force. */
export interface ViewRequest {
  readonly window: TimeWindow;
  /** Freezes all views; data is still taken in. */
  readonly paused: boolean;
  /** Lines a chart shows by themselves; the rest is one line, "others". 1 to 50. */
  readonly top_k: number;
  /** What the lines are ranked by: each chart's own measure, or a field for all charts. */
  readonly rank_by: "chart" | { readonly field: string };
  /** Only threads whose name, role or tid fits; a regular expression without slashes; "" = all. */
  readonly filter: string;
  /** Highlighted everywhere, and always among the lines. */
  readonly selected: ThreadKey | null;
  /** Always among the lines. */
  readonly pinned: readonly ThreadKey[];
  /** Where the lines of cumulative charts start: at the first sample, or at the thread's start. */
  readonly baseline: "attach" | "start";
  readonly table: TableRequest | null;
  readonly tiles: boolean;
  readonly events: boolean;
  /** The thread map; null: it is not on screen. */
  readonly map: MapRequest | null;
}

/** What is in force before the page has asked for anything. */
export const DEFAULT_REQUEST: ViewRequest = {
  window: { kind: "last", seconds: 60 },
  paused: false,
  top_k: 10,
  rank_by: "chart",
  filter: "",
  selected: null,
  pinned: [],
  baseline: "attach",
  table: null,
  tiles: true,
  events: true,
  map: null,
};

/** A table request to start from. */
export const DEFAULT_TABLE: TableRequest = {
  sort: { by: "rate", field: "cpu_run_ns" },
  descending: true,
  group: "thread",
  lives: "live",
  offset: 0,
  limit: 60,
  spark_field: "cpu_run_ns",
};

/** Fields whose whole recent past is kept for every thread, so that charts can show them. */
export const RING_FIELDS = [
  "cpu_run_ns",
  "cpu_delay_ns",
  "voluntary_switches",
  "involuntary_switches",
  "disk_read_bytes",
  "disk_write_bytes",
  "net_read_bytes",
  "net_write_bytes",
  "net_read_calls",
  "net_write_calls",
  "blkio_delay_ns",
  "swapin_delay_ns",
  "thrashing_delay_ns",
  "reclaim_delay_ns",
  "compact_delay_ns",
  "wpcopy_delay_ns",
  "irq_delay_ns",
] as const;

// ---------------------------------------------------------------------------------------------
// Views

/** Unit of a value that is shown, for `formatValue` and `tickFormatter` of model/format.ts. */
export type ShownUnit =
  | "W"
  | "J"
  | "cores"
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
  readonly name: string;
  readonly role: string;
  /** Number of the role in order of appearance: `roleStyle(role_index, theme)` gives its looks. */
  readonly role_index: number;
  readonly kind: "thread" | "others" | "process" | "part";
  /** Which of a pair: 0 = read, voluntary, or the only one; 1 = written, involuntary. */
  readonly variant: 0 | 1;
  /** Name of the variant, for legends: "read", "written", "voluntary", …; "" if there is one. */
  readonly variant_name: string;
  /** What a band of the times chart is: `partStyle(part, theme)` gives its looks. */
  readonly part?: Part;
  readonly selected: boolean;
  readonly pinned: boolean;
  readonly exited: boolean;
  /** Last value in the window, in the chart's unit; NaN if there is none. */
  readonly last: number;
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
  /** Draw as steps (a gauge that holds until it changes). */
  readonly step: boolean;
  /** Rates are means over at least this long, in seconds; 0 where nothing is smoothed. */
  readonly smoothing_s: number;
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

/** Where the time of threads went within the window. */
export interface TimesView {
  /** What the chart is of: the process (what fits the filter), a role, or a thread. */
  readonly scope: "process" | "role" | "thread";
  readonly name: string;
  readonly whole: TimesRow;
  /** By role, busiest first. */
  readonly roles: readonly TimesRow[];
  /** Parts that are not there, or are there for some threads only, and why. */
  readonly absent: readonly { readonly part: Part; readonly reason: string }[];
}

/** Where the time of some threads went. */
export interface TimesRow {
  /** "role:NAME" for a role. */
  readonly key: ThreadKey;
  readonly name: string;
  readonly role_index: number;
  /** Threads that lived within the window. */
  readonly threads: number;
  /** Thread-seconds within the window: what all parts add up to. */
  readonly wall_s: number;
  /** Seconds a part; NaN where it is not available (then it is within another part). */
  readonly parts: Readonly<Record<Part, number>>;
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
  readonly group: "thread" | "role";
  /** Fields of the columns of `rates` and `totals`: those of the target, in its order. */
  readonly fields: readonly string[];
  readonly rows: readonly TableRow[];
  /** Rates are means over this long (seconds); NaN while there is only one sample. */
  readonly rate_span_s: number;
  /** Estimated power for each core of CPU that a row uses, watts; NaN if it is not known. */
  readonly watts_per_core: number;
}

/** One row: a thread, or all threads of a role. */
export interface TableRow {
  readonly key: ThreadKey;
  /** Null for a role. */
  readonly tid: number | null;
  readonly name: string;
  readonly role: string;
  readonly role_index: number;
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
   * model/format.ts to turn it into a unit to show.
   */
  readonly rates: Float64Array;
  /** Float64[fields], raw unit of the catalogue, since the thread's start; NaN = absent. */
  readonly totals: Float64Array;
  /** Recent rate of `spark_field`, oldest first; NaN where there is none. */
  readonly spark: Float32Array;
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
  | "turnover"; // threads born and exited since the page's first frame of this target

/** Something that happened, newest last in `EventsView.events`. */
export interface EventView {
  /** Grows by one; a stable React key. */
  readonly id: number;
  readonly t_s: number;
  readonly unix_ms: number;
  /** From the wire; gaps that the page found by itself come as `gap` too. */
  readonly event: TargetEvent;
}

/** The last events (at most 500), and how many there were. */
export interface EventsView {
  readonly events: readonly EventView[];
  readonly total: number;
}

/** How good the data is. */
export interface DataHealth {
  /** CPU of the process and of its threads, live and ended, since this page's first frame. */
  readonly cpu_check: CpuCheck | null;
  /** Threads that ended without an exit record since attach. */
  readonly exits_inexact: number;
  /** Samples a second that were asked for. */
  readonly rate_hz: number;
  /** Those in force: less if the collector's CPU budget is spent. NaN until it is known. */
  readonly in_force_hz: number;
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
  readonly sent_bytes: number;
  /** Instants merged into later frames on the way here, by sequence numbers; no totals lost. */
  readonly coalesced: number;
  /** Frames that never came, by sequence numbers, and in how many gaps. */
  readonly missing_frames: number;
  readonly gaps: number;
  /** As the backend counts for this page; null until it told. */
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
  /** Null until the backend has told about it. */
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
  /** Ends of the time axis in force. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly live_threads: number;
  /** Since the page's first frame of this target. */
  readonly born_threads: number;
  /** Since attach. */
  readonly exited_threads: number;
  readonly gomaxprocs: number | null;
  readonly rss_bytes: number | null;
  /** Energy of the machine's packages since attach, joules; null if it is not known. */
  readonly energy_j: number | null;
  /** Energy is missing in it: a counter started anew. */
  readonly energy_is_part: boolean;
  readonly paused: boolean;
  /** What is wrong with the filter, if it is not a regular expression; "" if nothing is. */
  readonly filter_problem: string;
}

// ---------------------------------------------------------------------------------------------
// The client

/** What the pointer is over, shared by all charts. */
export interface Hover {
  /** Seconds since attach; null when the pointer is over no chart. */
  readonly t_s: number | null;
  /** The nearest line's thread, if one is near. */
  readonly key: ThreadKey | null;
  /** The chart the pointer is in: it shows the tooltip. */
  readonly chart: ChartId | "map" | null;
}

/**
 * The page's end of the worker: owns it, and hands out stores. One per app. Stores change only when
 * something in them changed; views of a target become null when another is followed.
 */
export interface LiveClient {
  readonly connection: Readable<Connection>;
  /** Hosts and targets; null until the backend has told. */
  readonly live: Readable<LiveState | null>;
  /** The last command the backend refused; cleared by the next `follow`. */
  readonly problem: Readable<Problem | null>;

  /** What there is to look at, of a run; null: what is live has no end. */
  readonly extent: Extent | null;
  /** How far a run has been read; null of what is live. */
  readonly reading: Readable<Reading | null>;
  /** A run in one line; null of what is live, and until it has been read. */
  readonly outline: Readable<Outline | null>;

  /** The request in force. */
  readonly view: Readable<ViewRequest>;
  /** Merge a part of a request into the one in force. Cheap; unchanged values do nothing. */
  readonly request: (part: Partial<ViewRequest>) => void;

  /** Id of the followed target. */
  readonly followed: Readable<string | null>;
  /** Follow a target (null: none). Drops what was held of the one before. */
  readonly follow: (target: string | null) => void;

  readonly target: Readable<TargetView | null>;
  readonly tiles: Readable<readonly TileView[] | null>;
  readonly table: Readable<TableView | null>;
  readonly events: Readable<EventsView | null>;
  readonly health: Readable<DataHealth | null>;
  /** What steers the target and what it decided; null while nothing ever did. */
  readonly steer: Readable<SteerView | null>;
  /** The thread map, put together of what came; asked for by `request({ map })`. */
  readonly map: Readable<MapPicture | null>;
  /** Latest view of a chart; the same store for the same id. */
  readonly chart: (chart: ChartId) => Readable<ChartView | null>;

  /** Pointer, shared by all charts. */
  readonly hover: Writable<Hover>;
  /** Select a thread everywhere; the selected one again, or null, selects none. */
  readonly select: (key: ThreadKey | null) => void;
  readonly togglePin: (key: ThreadKey) => void;
  readonly setPaused: (paused: boolean) => void;

  /**
   * A chart of this width (CSS pixels of its plot) is on screen: compute its view. Returns what ends
   * it. `TimeChart` does this by itself.
   */
  readonly mountChart: (chart: ChartId, width_px: number) => () => void;

  /** Try again at once (from waiting, denied and refused). */
  readonly retryNow: () => void;
  /** Close the socket and end the worker. */
  readonly dispose: () => void;
}

// ---------------------------------------------------------------------------------------------
// Charts

/** Colours of a theme; read them from the style sheet's custom properties or give them as they are. */
export interface ChartTheme {
  readonly dark: boolean;
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly background: string;
  readonly crosshair: string;
  readonly font: string;
  /** Read (red in the thesis' figures) and written (green), legible on `background`. */
  readonly read: string;
  readonly written: string;
  readonly others: string;
}

/** Props of `TimeChart` (charts/TimeChart.tsx): one chart, without heading and legend. */
export interface TimeChartProps {
  readonly client: LiveClient;
  readonly chart: ChartId;
  readonly theme: ChartTheme;
  /** For the text alternative, such as "CPU per thread". */
  readonly title: string;
  /** Height in CSS pixels; default 200. */
  readonly height?: number;
}

/** Props of `Sparkline` (charts/Sparkline.tsx): a small line, an svg with aria-hidden. */
export interface SparklineProps {
  readonly values: Float32Array;
  readonly width?: number;
  readonly height?: number;
  /** Default currentColor. */
  readonly colour?: string;
}

/**
 * Looks of a role or line, by charts/palette.ts:
 *
 *     roleStyle(role_index: number, theme: ChartTheme): LineStyle
 *     lineStyle(line: LineView, chart: ChartId, theme: ChartTheme): LineStyle   // legends use this
 *     LIGHT_CHART_THEME, DARK_CHART_THEME: ChartTheme
 *
 * and charts/describe.ts: `describeChart(view: ChartView, title: string): string`, the text
 * alternative (TimeChart sets it as aria-label itself).
 */
export interface LineStyle {
  readonly colour: string;
  /** Dash pattern in pixels; [] is solid. Tells the two variants apart. */
  readonly dash: readonly number[];
  readonly width: number;
  /** Drawn at the line's right end, so that roles are not told apart by colour alone. */
  readonly marker: "circle" | "square" | "triangle" | "diamond" | "cross" | "none";
}

// Of model/format.ts:
//   formatValue(value: number, unit: ShownUnit): string          "1.25 cores", "3.4 MiB/s", "–" for NaN
//   tickFormatter(unit: ShownUnit, max: number): (value: number) => string
//   shownRate(field: string, rate: number): { value: number; unit: ShownUnit }   raw/s → shown
//   shownTotal(field: string, total: number): { value: number; unit: ShownUnit }
//   formatRate(field, rate), formatTotal(field, total): string
//   formatDuration(seconds: number): string                       "3 min 05 s"
// Of model/role.ts: roleOf(name: string): string                  "worker-12" → "worker-#"
// Of charts/describe.ts: describeEvent(event: TargetEvent): string
// Of charts/Marker.tsx: <Marker style={lineStyle(...)} />   a legend's sample, an svg with aria-hidden

// ---------------------------------------------------------------------------------------------
// Worker protocol (pages do not need it)

export type ToWorker =
  | { readonly type: "open"; readonly url: string; readonly probe: boolean }
  /** Read a run instead of what is live. */
  | { readonly type: "open_run"; readonly run: RunSource }
  | { readonly type: "follow"; readonly target: string | null }
  | {
      readonly type: "request";
      readonly request: ViewRequest;
      readonly charts: readonly ChartRequest[];
    }
  | { readonly type: "visible"; readonly visible: boolean }
  /** The last views were drawn: there is room for the next ones. */
  | { readonly type: "drawn" }
  | { readonly type: "retry" }
  | { readonly type: "close" };

/** A chart on screen. */
export interface ChartRequest {
  readonly chart: ChartId;
  readonly width_px: number;
}

export type FromWorker =
  | { readonly type: "connection"; readonly connection: Connection }
  | { readonly type: "live"; readonly live: LiveState }
  | { readonly type: "problem"; readonly problem: Problem | null }
  | { readonly type: "reading"; readonly reading: Reading }
  | { readonly type: "outline"; readonly outline: Outline }
  | ({ readonly type: "views" } & ViewBatch);

/** Views that were computed together; what is left out has not changed. */
export interface ViewBatch {
  /** Target they are of. */
  readonly id: string;
  readonly target: TargetView | null;
  readonly health: DataHealth | null;
  readonly charts: readonly ChartView[];
  readonly tiles: readonly TileView[] | null;
  readonly table: TableView | null;
  readonly events: EventsView | null;
  readonly steer: SteerView | null;
  readonly map: MapView | null;
  /** Frames that these views are the first to contain; empty unless the probe is on. */
  readonly frames: readonly ProbeFrame[];
}

// ---------------------------------------------------------------------------------------------
// Measuring hook

/** A frame's way to the worker. */
export interface ProbeFrame {
  readonly target: string;
  readonly seq: number;
  readonly first_seq: number;
  /** When the sample was taken, by the collector's clock. */
  readonly unix_us: number;
  /** When the frame had come out of the socket, Unix ms. */
  readonly received_unix_ms: number;
}

/**
 * A frame's way to the screen. Off by default; on when `window.__tidscope_probe` is an array before
 * the client is made (a benchmark sets it by an init script): entries are pushed to it.
 */
export interface ProbeEntry extends ProbeFrame {
  /** When the first paint that contains it was over, Unix ms. */
  readonly painted_unix_ms: number;
}

declare global {
  interface Window {
    __tidscope_probe?: ProbeEntry[];
  }
}
