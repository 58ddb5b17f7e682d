/**
 * What the page asks to see: it states the whole of it once, and finished views come back.
 *
 * Times named `_s` are seconds since attach.
 */

import type { RoleRule } from "../wire/generated/models";

/**
 * Identity of a thread: "TID@START_NS"; of a role "role:NAME", of a process of a group
 * "process:PID@START_NS".
 */
export type ThreadKey = string;

/** Whether a key is that of a thread, and of no role or process. */
export function isOneThread(key: ThreadKey): boolean {
  return /^[0-9]+@/.test(key);
}

/** The charts there are. */
export type ChartId =
  | "cpu" // CPU slope per thread, cores
  | "cpu_total" // cumulative CPU seconds per thread (s)
  | "disk" // cumulative bytes read and written per thread (bytes)
  | "network" // cumulative network bytes per thread (bytes); absent with its reason
  | "network_calls" // socket calls that moved something (1/s); absent with its reason
  | "switches" // voluntary and involuntary context switches (1/s)
  | "wait" // run-queue delay, share of a core
  | "blkio" // block I/O wait, share of a core; absent with its reason
  | "gomaxprocs" // size in effect of what is steered, or GOMAXPROCS, step line
  | "ops" // operations a second: of each decision, else of pools; absent without either
  | "times"; // where the time goes: stacked shares of thread time; see `ChartView.times`

/** Views of frame tables, and findings. */
export type FactPart =
  | "findings"
  | "change"
  | "processes"
  | "pools"
  | "thread"
  | "thread_facts"
  | "wakes"
  | "locks"
  | "takers"
  | "calls"
  | "names";

/** What the lines of charts are of. */
export type Level = "process" | "role" | "thread";

/** A chart of the page. */
export interface ChartRequest {
  readonly chart: ChartId;
  readonly width_px: number;
  /** Somebody can see it: its view follows each frame. Others are made when the request changes. */
  readonly in_view: boolean;
}

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
  /** One row a thread, or one row a role; or processes with their roles and threads. */
  readonly group: "thread" | "role" | "process";
  /** Keys of the rows whose threads or roles are listed below them. */
  readonly open: readonly ThreadKey[];
  /** Threads that live, that have exited, or both. */
  readonly lives: "live" | "exited" | "all";
  /** First row wanted and how many (at most 200). */
  readonly offset: number;
  readonly limit: number;
  /** Field whose recent rate the sparklines show (one of `RING_FIELDS`). */
  readonly spark_field: string;
}

/** How the threads that share a row become one value. */
export type MapMix = "max" | "mean";

/** What the page wants to see. */
export interface MapRequest {
  /** A counter of the catalogue; its rate is the colour. */
  readonly field: string;
  readonly mix: MapMix;
  /** What stands together: threads of a role, or of a process of a group. */
  readonly by: "role" | "process";
  /** Processes whose roles stand apart, by what folds them (MapGroup). */
  readonly open: readonly ThreadKey[];
  /** Width of the plot and rows there is room for, CSS pixels. */
  readonly width_px: number;
  readonly rows: number;
  /** Somebody can see it: it follows each frame. */
  readonly in_view: boolean;
}

/** All that the page wants to see. `LiveClient.request` merges a part of it into what is in effect. */
export interface ViewRequest {
  readonly window: TimeWindow;
  /** What charts have lines of; null: of the processes of a group, of the threads of a process. */
  readonly level: Level | null;
  /** Freezes all views; data is still taken in. */
  readonly paused: boolean;
  /** Lines a chart shows by themselves; the rest is one line, "others". 1 to 50. */
  readonly top_k: number;
  /** What the lines are ranked by: each chart's own metric, or a field for all charts. */
  readonly rank_by: "chart" | { readonly field: string };
  /** Only threads whose name, role or tid fits; a regular expression without slashes; "" = all. */
  readonly filter: string;
  /** Highlighted everywhere, and always among the lines. */
  readonly selected: ThreadKey | null;
  /** Always among the lines. */
  readonly pinned: readonly ThreadKey[];
  /** Where the lines of cumulative charts start: at the first sample, or at the thread's start. */
  readonly baseline: "attach" | "start";
  /** Leave out of "where the time goes" what threads wait in by their nature, when idle. */
  readonly fold_idle: boolean;
  readonly table: TableRequest | null;
  readonly tiles: boolean;
  readonly events: boolean;
  /** The thread map; null: it is not on screen. */
  readonly map: MapRequest | null;
  /** Views of frame tables and findings that can be seen. */
  readonly facts: readonly FactPart[];
  /** The lock whose threads are listed; null: none. */
  readonly open_lock: number | null;
  /** By which threads have roles, before the rules of the target: a person's own, on this page. */
  readonly role_rules: readonly RoleRule[];
}

/** What a map request is until the page knows its size. */
export const DEFAULT_MAP: MapRequest = {
  field: "cpu_run_ns",
  mix: "max",
  by: "role",
  open: [],
  width_px: 600,
  rows: 300,
  in_view: true,
};

/** A table request to start from. */
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

/** What is in effect before the page has asked for anything. */
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
  open_lock: null,
  role_rules: [],
};

/** What the pointer is over, shared by all charts. */
export interface Hover {
  /** Seconds since attach; null when the pointer is over no chart. */
  readonly t_s: number | null;
  /** The nearest line's thread, if one is near. */
  readonly key: ThreadKey | null;
  /** The chart the pointer is in: it shows the tooltip. */
  readonly chart: ChartId | "map" | null;
}
