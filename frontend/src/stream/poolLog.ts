/**
 * History of a target's pools: about one reading per second, from the frames' tables `pools` and
 * `pool_times`. Bounded: old readings of a pool are thinned, and the pools with the oldest last
 * reading are evicted.
 */

import type { TableRows } from "./facts/factTable";

/** Figures of a pool, in table order: bit b of `known` belongs to the b-th. */
export const FIGURES = [
  ...["size", "busy", "queue"],
  ...["submitted", "started", "finished", "failed"],
  ...["response_ns", "run_ns", "queue_wait_ns", "idle_ns"],
  ...["parks", "steals", "polls"],
] as const;

/** Buckets of a duration histogram. */
export const BUCKETS = 32;
/** Value of the column `time`: the kind of histogram. */
export const RESPONSE = 0;
export const QUEUE_WAIT = 1;

/** A pool at one instant. */
export interface Reading {
  /** Reading time, in seconds since attach. */
  readonly t_s: number;
  /** Values in the order of FIGURES; NaN if unknown. */
  readonly figures: Float64Array;
  /** Float64[2 * BUCKETS]: response times, then queue waits. */
  readonly times: Float64Array;
}

/** A pool and its past. */
export interface Pool {
  readonly pool: number;
  /** Row number of its process, or 0 for a single-process target. */
  readonly process: number;
  readonly pid: number;
  /** Last known name of its process; empty if unknown, or for a single-process target. */
  readonly program: string;
  readonly name: string;
  readonly kind: string;
  readonly source: string;
  /** Readings, oldest first; at least one. */
  readonly readings: readonly Reading[];
}

interface Entry extends Pool {
  program: string;
  readonly readings: Reading[];
  times: Float64Array;
}

const MAX_POOLS = 256;
/** Maximum readings per pool: beyond it, every other one of the older half is dropped. */
const MAX_READINGS = 1200;

export class PoolLog {
  /** Incremented with each reading. */
  edition = 0;
  /** Rows that the collector dropped. */
  omitted = 0;
  private readonly pools = new Map<number, Entry>();

  /** @param maxAge_s Retention of readings. */
  constructor(private readonly maxAge_s = 600) {}

  /** All pools, by number. */
  all(): readonly Pool[] {
    return [...this.pools.values()].sort((a, b) => a.pool - b.pool);
  }

  /**
   * Set the tables of a frame.
   * @param whole True if the tables have all rows: missing pools are gone.
   */
  take(
    pools: TableRows | undefined,
    times: TableRows | undefined,
    omitted: number,
    whole: boolean,
  ): void {
    if (whole) {
      const given = new Set(pools ? Array.from(numbers(pools, "pool")) : []);
      for (const pool of this.pools.keys()) if (!given.has(pool)) this.pools.delete(pool);
      for (const entry of this.pools.values()) entry.times = new Float64Array(2 * BUCKETS);
    }
    if (!pools) return;
    this.omitted = omitted;
    for (let row = 0; row < pools.rows; row++) {
      const pool = numbers(pools, "pool")[row] ?? 0;
      if ((numbers(pools, "read_ns")[row] ?? 0) === 0) this.pools.delete(pool);
      else if (!this.pools.has(pool)) this.pools.set(pool, entryOf(pools, row));
    }
    if (times) this.takeTimes(times);
    for (let row = 0; row < pools.rows; row++) this.takeReading(pools, row);
    this.bound();
  }

  /** Set process names of a group, by number: ended processes soon disappear from the table. */
  nameProcesses(rows: ReadonlyMap<number, { readonly name: string }>): void {
    for (const entry of this.pools.values()) {
      entry.program = rows.get(entry.process)?.name ?? entry.program;
    }
  }

  /** Drop all but the last reading of each pool: the visible range starts here. */
  resume(): void {
    for (const { readings } of this.pools.values()) readings.splice(0, readings.length - 1);
  }

  private takeTimes(table: TableRows): void {
    const [pools, times] = [numbers(table, "pool"), numbers(table, "time")];
    const [buckets, counts] = [numbers(table, "bucket"), numbers(table, "count")];
    for (const entry of this.pools.values()) entry.times = entry.times.slice();
    for (let row = 0; row < table.rows; row++) {
      const held = this.pools.get(pools[row] ?? 0)?.times;
      const bucket = Math.min(buckets[row] ?? 0, BUCKETS - 1);
      if (held) held[(times[row] ?? 0) * BUCKETS + bucket] = counts[row] ?? 0;
    }
  }

  private takeReading(table: TableRows, row: number): void {
    const entry = this.pools.get(numbers(table, "pool")[row] ?? 0);
    if (!entry) return;
    const t_s = (numbers(table, "read_ns")[row] ?? 0) / 1e9;
    const { readings, times } = entry;
    // A key frame repeats the last reading.
    if (t_s <= (readings.at(-1)?.t_s ?? Number.NEGATIVE_INFINITY)) return;
    const known = numbers(table, "known")[row] ?? 0;
    const figures = Float64Array.from(FIGURES, (name, bit) =>
      (known >>> bit) & 1 ? (numbers(table, name)[row] ?? 0) : Number.NaN,
    );
    readings.push({ t_s, figures, times });
    this.edition++;
    const old = readings.findIndex((each) => each.t_s >= t_s - this.maxAge_s);
    // One reading that is too old is kept: the visible range may begin before the next one.
    if (old > 1) readings.splice(0, old - 1);
    if (readings.length > MAX_READINGS) {
      const half = MAX_READINGS >> 1;
      const kept = readings.slice(0, half).filter((_, i) => i % 2 === 0);
      readings.splice(0, half, ...kept);
    }
  }

  private bound(): void {
    if (this.pools.size <= MAX_POOLS) return;
    const order = [...this.pools.values()].sort(
      (a, b) => (a.readings.at(-1)?.t_s ?? 0) - (b.readings.at(-1)?.t_s ?? 0),
    );
    for (const { pool } of order.slice(0, order.length - MAX_POOLS)) this.pools.delete(pool);
  }
}

function entryOf(table: TableRows, row: number): Entry {
  const text = (name: string): string => String(table.columns[name]?.[row] ?? "");
  return {
    pool: numbers(table, "pool")[row] ?? 0,
    process: numbers(table, "process")[row] ?? 0,
    pid: numbers(table, "pid")[row] ?? 0,
    program: "",
    name: text("name"),
    kind: text("kind"),
    source: text("source"),
    readings: [],
    times: new Float64Array(2 * BUCKETS),
  };
}

function numbers(table: TableRows, name: string): ArrayLike<number> {
  return (table.columns[name] ?? []) as ArrayLike<number>;
}
