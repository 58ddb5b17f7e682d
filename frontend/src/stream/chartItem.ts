/**
 * An item that can have a line in a chart: a thread, or the sum of a role or process. Each has a
 * counter slot.
 */

import type { ThreadKey } from "./viewRequest";

export interface ChartItem {
  readonly slot: number;
  readonly key: ThreadKey;
  /** Thread ID, or null for a sum. */
  readonly tid: number | null;
  readonly start_ns: number;
  readonly name: string;
  readonly role: string;
  /** See `threadColour`. */
  readonly colour: number;
  /** First block of the history in which the slot belongs to this item. */
  readonly sinceBlock: number;
  /** First seen and ended, in seconds since attach. */
  readonly seen_s: number;
  readonly end_s: number | null;
  /** Lifetime by the exit record, in seconds; null if alive or without a record. */
  readonly life_s: number | null;
}

/** A role or process as the sum of its threads, including ended ones. */
export interface LevelSum extends ChartItem {
  readonly tid: null;
  /** Number of live threads. */
  live: number;
  /** Counters changed since the last instant, as a bit set. */
  changed: number;
}

/** A process of a group. */
export interface ProcessLife extends LevelSum {
  readonly pid: number;
  /** Command of its main thread; until known, of the first thread seen. */
  name: string;
  colour: number;
  end_s: number | null;
  /** Row in the frames' table; null until it arrives. */
  row: ProcessRow | null;
}

/** A row of the frames' table of processes; counters since attach, or since a later start. */
export interface ProcessRow {
  /** Unique within the target, never recycled. */
  readonly process: number;
  /** Process ID, or 0 for several ended processes of one name. */
  readonly pid: number;
  /** Row of the parent, or 0 if the parent is outside the group. */
  readonly parent: number;
  /** Number of processes in the row, and whether the process is alive. */
  readonly count: number;
  readonly live: boolean;
  readonly name: string;
  readonly title: string;
  readonly user: string;
  readonly container: string;
  readonly unit: string;
  readonly cpu_ns: number;
  /** Figures by column. */
  readonly figures: Readonly<Record<string, number>>;
}
