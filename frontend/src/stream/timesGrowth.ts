/** Growth of the time counters, per thread and column. */

import { type Growth, type RawTimes, settle } from "./breakdown";
import type { RingField } from "./chartSpecs";
import type { ViewInput } from "./chartView";
import type { Stretches } from "./history";
import { firstOf, readThread, ringOf } from "./series";
import type { Thread } from "./threads";

type Counter = Exclude<keyof RawTimes, "wall">;

const FIELDS: readonly (readonly [Counter, RingField])[] = [
  ["cpu", "cpu_run_ns"],
  ["queue", "cpu_delay_ns"],
  ["blkio", "blkio_delay_ns"],
  ["swapin", "swapin_delay_ns"],
  ["thrashing", "thrashing_delay_ns"],
  ["reclaim", "reclaim_delay_ns"],
  ["compact", "compact_delay_ns"],
  ["copy", "wpcopy_delay_ns"],
  ["irq", "irq_delay_ns"],
];

const RINGS = FIELDS.map(([, field]) => ringOf(field));
const PLACES = Object.fromEntries(FIELDS.map(([counter], k) => [counter, k])) as Record<
  Counter,
  number
>;
/** First delay counter in FIELDS; every thread has the counters before it. */
const FIRST_DELAY = PLACES.blkio;

/** Growth of one thread's counters in each column, and its wall time. */
export class GrowthReader {
  /** Whether the thread lived throughout all columns; `wall` is unset if true. */
  whole = false;
  /** Thread-seconds of each column. */
  readonly wall: Float64Array;
  /** Whether the thread has any delay other than the run queue's. */
  delays = false;
  /** Indices in FIELDS of counters that grew, and the growth of each, in seconds per column. */
  readonly moving: number[] = [];
  readonly growth: readonly Float64Array[];
  private readonly widths: Float64Array;
  private readonly values: Float64Array;
  private readonly columns: readonly number[];
  /** Growth of a counter, for `settle`. */
  private readonly growthOf: Growth = (counter) => {
    const k = PLACES[counter];
    return this.moving.includes(k) ? (this.growth[k] ?? null) : null;
  };

  constructor(
    private readonly input: ViewInput,
    private readonly stretches: Stretches,
    private readonly edges: readonly number[],
    private readonly time_s: Float64Array,
  ) {
    const count = edges.length - 1;
    this.widths = Float64Array.from(
      { length: count },
      (_, c) => (time_s[c + 1] ?? 0) - (time_s[c] ?? 0),
    );
    this.wall = new Float64Array(count);
    this.growth = FIELDS.map(() => new Float64Array(count));
    this.values = new Float64Array(stretches.n);
    this.columns = FIELDS.map(([, field]) => input.model.counters.columnOf(field));
  }

  /** Read a thread. Return false if it did not live within the columns. */
  load(thread: Thread): boolean {
    const { model } = this.input;
    const { time_s, wall } = this;
    const start_s = thread.start_ns / 1e9;
    const fresh = start_s >= model.since_s;
    const from = fresh ? start_s : thread.seen_s;
    const noted = thread.end_s ?? Number.POSITIVE_INFINITY;
    const to = Math.min(noted, start_s + (thread.life_s ?? Number.POSITIVE_INFINITY));
    const first = time_s[0] ?? 0;
    const last = time_s.at(-1) ?? 0;
    if (from >= last || noted <= first) return false;
    this.whole = from <= first && to >= last;
    for (let c = 0; c < wall.length && !this.whole; c++) {
      const a = Math.max(from, time_s[c] ?? 0);
      const b = Math.min(to, time_s[c + 1] ?? 0);
      wall[c] = Math.max(0, b - a);
    }
    this.moving.length = 0;
    this.delays = false;
    const base = thread.slot * model.counters.fields.length;
    for (let k = 0; k < FIELDS.length; k++) {
      const column = this.columns[k] ?? -1;
      const latest = column < 0 ? Number.NaN : (model.counters.latest[base + column] ?? Number.NaN);
      if (Number.isNaN(latest)) continue;
      if (k >= FIRST_DELAY) this.delays = true;
      this.readCounter(thread, k, fresh, latest);
    }
    if (this.moving.length > 0) settle(this.whole ? this.widths : wall, this.growthOf);
    return true;
  }

  wallOf(c: number): number {
    return (this.whole ? this.widths : this.wall)[c] ?? 0;
  }

  /** Add some columns to times; parts that the times lack are skipped. */
  giveTo(times: RawTimes, from: number, to: number): void {
    const wall = this.whole ? this.widths : this.wall;
    times.wall += sumOf(wall, from, to);
    for (const k of this.moving) {
      const [counter] = FIELDS[k] ?? ["cpu"];
      if (!Number.isNaN(times[counter])) times[counter] += sumOf(this.growth[k] ?? wall, from, to);
    }
  }

  private readCounter(thread: Thread, k: number, fresh: boolean, latest: number): void {
    const { model } = this.input;
    const { stretches, edges, time_s, values } = this;
    const growth = this.growth[k];
    const ring = RINGS[k] ?? 0;
    const { history } = model;
    const start = history.at(stretches, "first", thread.slot, ring, thread.sinceBlock);
    // Born before the retained past: its first-seen value is the first value there.
    const unseen = !fresh && thread.start_ns / 1e9 >= model.first_s;
    const first = unseen ? start : firstOf(model, thread.slot, ring);
    // Before its first sample, a thread older than the attach counts as its first value.
    let held = fresh || Number.isNaN(first) ? 0 : first;
    const end_s = thread.end_s ?? Number.POSITIVE_INFINITY;
    const end = history.at(stretches, "last", thread.slot, ring, thread.sinceBlock);
    const final = (time_s.at(-1) ?? 0) >= end_s ? latest : end;
    // Most counters of most threads are constant.
    if ((Number.isNaN(start) ? held : start) === (Number.isNaN(final) ? held : final)) return;
    if (!growth) return;
    this.moving.push(k);
    readThread(model, stretches, thread, ring, values);
    let before = 0;
    for (let e = 0; e < edges.length; e++) {
      const value = values[edges[e] ?? 0] ?? Number.NaN;
      if ((time_s[e] ?? 0) >= end_s) held = latest;
      else if (!Number.isNaN(value)) held = value;
      if (e > 0) growth[e - 1] = Math.max(0, held - before) / 1e9;
      before = held;
    }
  }
}

function sumOf(values: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let c = from; c < to; c++) sum += values[c] ?? 0;
  return sum;
}

/** Sums per column, over threads with delays or without. */
export class ColumnSums {
  private readonly wall: Float64Array;
  private readonly counters: readonly Float64Array[];
  /** Number of threads that lived throughout all columns. */
  private whole = 0;

  constructor(private readonly time_s: Float64Array) {
    this.wall = new Float64Array(time_s.length - 1);
    this.counters = FIELDS.map(() => new Float64Array(time_s.length - 1));
  }

  add(reader: GrowthReader): void {
    if (reader.whole) this.whole++;
    else addInto(this.wall, reader.wall);
    for (const k of reader.moving) {
      addInto(this.counters[k] ?? this.wall, reader.growth[k] ?? this.wall);
    }
  }

  /** Add one column of a thread. */
  addColumn(reader: GrowthReader, c: number): void {
    this.wall[c] = (this.wall[c] ?? 0) + reader.wallOf(c);
    for (const k of reader.moving) {
      const sums = this.counters[k];
      if (sums) sums[c] = (sums[c] ?? 0) + (reader.growth[k]?.[c] ?? 0);
    }
  }

  /** Add a column to times; parts that the times lack are skipped. */
  giveTo(times: RawTimes, c: number): void {
    const width = (this.time_s[c + 1] ?? 0) - (this.time_s[c] ?? 0);
    times.wall += (this.wall[c] ?? 0) + this.whole * width;
    for (const [k, [counter]] of FIELDS.entries()) {
      if (!Number.isNaN(times[counter])) times[counter] += this.counters[k]?.[c] ?? 0;
    }
  }
}

function addInto(sum: Float64Array, values: Float64Array): void {
  for (let c = 0; c < sum.length; c++) sum[c] = (sum[c] ?? 0) + (values[c] ?? 0);
}
