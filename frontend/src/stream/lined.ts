/**
 * What can have a line in a chart: a thread, or all threads of a role or of a process as one. Counters
 * of each lie in a slot of its own.
 */

import type { ThreadKey } from "./viewRequest";

export interface Lined {
  readonly slot: number;
  readonly key: ThreadKey;
  /** Null: it is not one thread. */
  readonly tid: number | null;
  readonly start_ns: number;
  readonly name: string;
  readonly role: string;
  /** See `threadColour`. */
  readonly colour: number;
  /** First block of the history in which the slot is its own. */
  readonly sinceBlock: number;
  /** When the page saw it first and when it ended, seconds since attach. */
  readonly seen_s: number;
  readonly end_s: number | null;
  /** How long a thread lived by its exit record, seconds; null: it lives, or none came. */
  readonly life_s: number | null;
}

/** Threads whose counters are added up, those that ended included: a role, or a process. */
export interface LevelSum extends Lined {
  readonly tid: null;
  /** Threads of it that live. */
  live: number;
  /** Counters that changed since the last instant, a bit each. */
  changed: number;
}

/** A process of a group. */
export interface ProcessLife extends LevelSum {
  readonly pid: number;
  /** Command of its main thread; before that is known, of the first thread seen. */
  name: string;
  colour: number;
  end_s: number | null;
  /** What the frames' table says of it; null until it does. */
  row: ProcessRow | null;
}

/** A row of the frames' table of processes; counters since attach, or since its start after that. */
export interface ProcessRow {
  /** Unique within the target, never used again. */
  readonly process: number;
  /** 0: ended processes of one name, together. */
  readonly pid: number;
  /** Row of its parent; 0: that is not in the group. */
  readonly parent: number;
  /** Processes in the row, and whether it lives. */
  readonly count: number;
  readonly live: boolean;
  readonly name: string;
  readonly title: string;
  readonly user: string;
  readonly container: string;
  readonly unit: string;
  readonly cpu_ns: number;
  /** All figures, by column. */
  readonly figures: Readonly<Record<string, number>>;
}
