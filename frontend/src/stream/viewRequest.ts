/**
 * The page's complete request; the worker replies with finished views. Times named `_s` are seconds
 * since attach.
 */

import type { RoleRule } from "../wire/generated/models";

/**
 * Key of a thread: "TID@START_NS"; of a role "role:NAME"; of a process of a group
 * "process:PID@START_NS". "tid:TID" is a thread whose start is unknown to the page, as one of an
 * address: `ThreadView.key` is its key.
 */
export type ThreadKey = string;

const BY_TID = "tid:";

/** Key of the last thread with an ID. */
export function keyOfTid(tid: number): ThreadKey {
  return `${BY_TID}${tid}`;
}

/** Thread ID of a key without a start; null of any other. */
export function tidOfKey(key: ThreadKey): number | null {
  return key.startsWith(BY_TID) ? Number(key.slice(BY_TID.length)) : null;
}

/** Whether a key identifies a thread, not a role or process. */
export function isOneThread(key: ThreadKey): boolean {
  return /^[0-9]+@/.test(key);
}

export type ChartId =
  | "cpu" // CPU slope per thread, cores
  | "cpu_total" // cumulative CPU seconds per thread (s)
  | "disk" // cumulative bytes read and written per thread (bytes)
  | "network" // cumulative network bytes per thread (bytes); absent with its reason
  | "network_calls" // socket calls that transferred data (1/s); absent with its reason
  | "switches" // voluntary and involuntary context switches (1/s)
  | "wait" // run-queue delay, share of a core
  | "blkio" // block I/O wait, share of a core; absent with its reason
  | "gomaxprocs" // current size of the steered pool, or GOMAXPROCS, step line
  | "ops" // operations per second: from decisions, else from pools; absent without either
  | "times"; // time breakdown: stacked shares of thread time; see `ChartView.times`

/** Views of frame tables, and findings. */
export type FactPart =
  | "findings"
  | "change"
  | "processes"
  | "pools"
  | "thread"
  | "thread_facts"
  | "wakes"
  | "waiting"
  | "goroutines"
  | "calls"
  | "names";

/** Level of the charts' lines. */
export type Level = "process" | "role" | "thread";

export interface ChartRequest {
  readonly chart: ChartId;
  readonly width_px: number;
  /** Visible charts are updated with each frame, others when the request changes. */
  readonly in_view: boolean;
}

/** The time range of every time axis. */
export type TimeWindow =
  | { readonly kind: "last"; readonly seconds: number }
  | { readonly kind: "fixed"; readonly t0_s: number; readonly t1_s: number };

/** Sort keys of the table: identity, or the rate or total of a catalogue field. */
export type SortColumn =
  | { readonly by: "tid" | "name" | "role" | "state" | "age" }
  | { readonly by: "rate" | "total"; readonly field: string };

/** The visible part of the table. */
export interface TableRequest {
  readonly sort: SortColumn;
  readonly descending: boolean;
  /** One row per thread or role, or a tree of processes, roles and threads. */
  readonly group: "thread" | "role" | "process";
  /** Keys of open rows, whose threads or roles are listed below. */
  readonly open: readonly ThreadKey[];
  /** Live threads, exited threads, or both. */
  readonly lives: "live" | "exited" | "all";
  /** First row and number of rows (at most 200). */
  readonly offset: number;
  readonly limit: number;
  /** Field of the sparklines (one of `RING_FIELDS`). */
  readonly spark_field: string;
}

/** Aggregation of the threads that share a row. */
export type MapMix = "max" | "mean";

export interface MapRequest {
  /** A counter of the catalogue; its rate is the colour. */
  readonly field: string;
  readonly mix: MapMix;
  /** Grouping of rows: by role, or by process of a group. */
  readonly by: "role" | "process";
  /** Processes unfolded into their roles, by folding key (MapGroup). */
  readonly open: readonly ThreadKey[];
  /** Width of the plot in CSS pixels, and number of rows that fit. */
  readonly width_px: number;
  readonly rows: number;
  /** A visible map is updated with each frame. */
  readonly in_view: boolean;
}

/** The complete request. `LiveClient.request` merges a part into the one in effect. */
export interface ViewRequest {
  readonly window: TimeWindow;
  /** Level of the charts' lines; null: processes in a group, otherwise threads. */
  readonly level: Level | null;
  /** Freezes all views; frames are still ingested. */
  readonly paused: boolean;
  /** Number of separate lines in a chart, 1 to 50; the rest is one line, "others". */
  readonly top_k: number;
  /** Ranking of the lines: by each chart's own metric, or by one field for all charts. */
  readonly rank_by: "chart" | { readonly field: string };
  /** Regular expression without slashes for a thread's name, role or tid; "" for all threads. */
  readonly filter: string;
  /** Highlighted everywhere, and always among the lines. */
  readonly selected: ThreadKey | null;
  /** Always among the lines. */
  readonly pinned: readonly ThreadKey[];
  /** Start of cumulative lines: zero at the first sample, or at the thread's start. */
  readonly baseline: "attach" | "start";
  /** Exclude idle waits from the time breakdown. */
  readonly fold_idle: boolean;
  readonly table: TableRequest | null;
  readonly tiles: boolean;
  readonly events: boolean;
  /** The thread map; null if invisible. */
  readonly map: MapRequest | null;
  /** Visible views of frame tables and findings. */
  readonly facts: readonly FactPart[];
  /** Sum processes outside the target by their names. */
  readonly by_program: boolean;
  /** The lock with listed threads; null for none. */
  readonly open_lock: number | null;
  /** The user's role rules on this page, which precede the target's rules. */
  readonly role_rules: readonly RoleRule[];
}

/** Map request until the page knows its size. */
export const DEFAULT_MAP: MapRequest = {
  field: "cpu_run_ns",
  mix: "max",
  by: "role",
  open: [],
  width_px: 600,
  rows: 300,
  in_view: true,
};

export const DEFAULT_TABLE: TableRequest = {
  sort: { by: "rate", field: "cpu_run_ns" },
  descending: true,
  group: "thread",
  open: [],
  lives: "live",
  offset: 0,
  limit: 60,
  spark_field: "cpu_run_ns",
};

export const DEFAULT_REQUEST: ViewRequest = {
  window: { kind: "last", seconds: 60 },
  level: null,
  paused: false,
  top_k: 10,
  rank_by: "chart",
  filter: "",
  selected: null,
  pinned: [],
  baseline: "attach",
  fold_idle: false,
  table: null,
  tiles: true,
  events: true,
  map: null,
  facts: [],
  by_program: false,
  open_lock: null,
  role_rules: [],
};

/** State of the pointer, shared by all charts. */
export interface Hover {
  /** Seconds since attach; null if the pointer is over no chart. */
  readonly t_s: number | null;
  /** Thread of the nearest line, or null. */
  readonly key: ThreadKey | null;
  /** The chart under the pointer, which shows the tooltip. */
  readonly chart: ChartId | "map" | null;
}
