/**
 * The counters of a target: the latest of each thread, their sums since attach, and the recent
 * past. Slots are those of threads.ts, columns the fields of the frames.
 */

import type { LevelSum } from "./chartItem";
import { RING_FIELDS } from "./chartSpecs";
import { History } from "./history";
import { PROCESS_SLOT, type Thread } from "./threads";

export class CounterTable {
  /** Fields of the frames, in column order; empty before the first frame. */
  fields: readonly string[] = [];
  /** Column of each of RING_FIELDS, or -1 if the target lacks it. */
  ringColumn: readonly number[] = [];
  /** Float64[slots * fields]: latest counters; NaN if absent. Slot 0 is the process. */
  latest = new Float64Array(0);
  /** Float64[slots * ring fields]: first values seen; 0 for threads born since attach. */
  first = new Float64Array(0);

  private first_s = Number.NaN;
  private capacity = 0;
  private ringOf = new Int32Array(0);
  /** Sum over live threads, and number of threads with a value, per field. */
  private liveSum = new Float64Array(0);
  private having = new Int32Array(0);
  /** Counters of threads first seen long after their start: not growth since attach. */
  private before = new Float64Array(0);
  private ringLatest = new Float64Array(0);
  private extra: ExtraRing | null = null;
  private order: readonly number[] = [];
  private orderFor: readonly string[] | null = null;
  /** Sums of roles and processes that changed in this instant. */
  private readonly changed: LevelSum[] = [];

  /** @param history Store of the past of RING_FIELDS. */
  constructor(private readonly history: History) {}

  /** Column of a field in `latest`; -1 if the target lacks the field. */
  columnOf(field: string): number {
    return this.fields.indexOf(field);
  }

  /** Column in `latest` of each frame column; -1 if none. */
  columnsOf(fields: readonly string[]): readonly number[] {
    const same = this.orderFor?.length === fields.length;
    if (!same || this.orderFor?.some((field, i) => field !== fields[i])) {
      this.order = fields.map((field) => this.fields.indexOf(field));
      this.orderFor = fields;
    }
    return this.order;
  }

  /** Keep an extra field's past from the next instant on; replaces the previous extra field. */
  keep(field: string): ExtraRing {
    if (this.extra?.field !== field) {
      const width = this.fields.length;
      const { maxAge_s } = this.history;
      this.extra = new ExtraRing(field, this.columnOf(field), width, this.capacity, maxAge_s);
    }
    return this.extra;
  }

  /**
   * Set the fields of the first frame; its time, in seconds since attach, is the baseline of sums.
   */
  start(fields: readonly string[], first_s: number): void {
    this.fields = fields;
    this.first_s = first_s;
    this.ringColumn = RING_FIELDS.map((field) => fields.indexOf(field));
    const rings: readonly string[] = RING_FIELDS;
    this.ringOf = Int32Array.from(fields, (field) => rings.indexOf(field));
    this.liveSum = new Float64Array(fields.length);
    this.having = new Int32Array(fields.length);
    this.history.keep(this.ringColumn.flatMap((column, ring) => (column < 0 ? [] : [ring])));
    this.before = new Float64Array(fields.length);
    this.ensure(64);
  }

  /** Begin an instant; new blocks hold about this many instants. */
  begin(t_s: number, instants: number): void {
    this.history.begin(t_s, this.ringLatest, instants);
    this.extra?.begin(t_s, this.latest, instants);
  }

  /** Drop the past; history restarts with the coming instant. */
  forgetPast(): void {
    this.history.restart();
    this.extra?.restart();
  }

  /** Slot reused by another thread, still without values. */
  clear({ slot, start_ns }: Pick<Thread, "slot" | "start_ns">): void {
    this.ensure(slot + 1);
    const width = this.fields.length;
    const rings = RING_FIELDS.length;
    this.latest.fill(Number.NaN, slot * width, (slot + 1) * width);
    const kept = this.history.width;
    this.ringLatest.fill(Number.NaN, slot * kept, (slot + 1) * kept);
    // A thread started during the recording began with zero.
    const fresh = start_ns / 1e9 >= this.first_s;
    this.first.fill(fresh ? 0 : Number.NaN, slot * rings, (slot + 1) * rings);
    this.history.clear(slot);
    this.extra?.clear(slot);
  }

  /** Slot reused by a sum, still zero. */
  clearSum(slot: number): void {
    this.clear({ slot, start_ns: Number.POSITIVE_INFINITY });
  }

  /** Set a counter of a live thread by its column; NaN leaves the counter unchanged. */
  set(thread: Thread, f: number, value: number): void {
    const at = thread.slot * this.fields.length + f;
    const before = this.latest[at] ?? Number.NaN;
    if (value === before || Number.isNaN(value)) return; // a value, once given, is never withdrawn
    this.latest[at] = value;
    let grown = value - before;
    let already = 0;
    if (Number.isNaN(before)) {
      // A listing may miss a thread at first: its earlier counts are not growth now.
      const old = thread.start_ns / 1e9 < this.first_s;
      const late = old && thread.seen_s > this.first_s;
      if (late) this.before[f] = (this.before[f] ?? 0) + value;
      grown = late ? 0 : value;
      already = old ? grown : 0;
      this.having[f] = (this.having[f] ?? 0) + 1;
      this.liveSum[f] = (this.liveSum[f] ?? 0) + value;
    } else {
      this.liveSum[f] = (this.liveSum[f] ?? 0) + (value - before);
      if (value < before) {
        // Reset: counting continues from the new value; earlier counts are kept.
        thread.reset = true;
        this.before[f] = (this.before[f] ?? 0) - (before - value);
      }
    }
    if (this.extra?.column === f) this.extra.put(thread.slot, value);
    const ring = this.ringOf[f] ?? -1;
    if (ring < 0) return;
    const ringAt = thread.slot * RING_FIELDS.length + ring;
    if (Number.isNaN(this.first[ringAt] ?? Number.NaN)) this.first[ringAt] = value;
    this.ringLatest[this.history.indexOf(thread.slot, ring)] = value;
    this.history.set(thread.slot, ring, value);
    for (const sum of thread.sums) this.addTo(sum, ring, grown, already);
  }

  /** Add to the sum of a role or process; `already` is the part from before attach. */
  private addTo(sum: LevelSum, ring: number, grown: number, already: number): void {
    if (grown < 0) return;
    const at = this.history.indexOf(sum.slot, ring);
    const held = this.ringLatest[at] ?? Number.NaN;
    this.ringLatest[at] = (Number.isNaN(held) ? 0 : held) + grown;
    if (already > 0) {
      const first = sum.slot * RING_FIELDS.length + ring;
      this.first[first] = (this.first[first] ?? 0) + already;
    }
    if (sum.changed === 0) this.changed.push(sum);
    sum.changed |= 1 << ring;
  }

  /** End an instant: record the sums of roles and processes that changed. */
  private noteSums(): void {
    for (const sum of this.changed) {
      for (let ring = 0; sum.changed >> ring > 0; ring++) {
        if (((sum.changed >> ring) & 1) === 0) continue;
        const value = this.ringLatest[this.history.indexOf(sum.slot, ring)] ?? Number.NaN;
        this.history.set(sum.slot, ring, value);
      }
      sum.changed = 0;
    }
    this.changed.length = 0;
  }

  /** Set the counters of a live thread to the totals of its exit record, by field. */
  setTotals(thread: Thread, totals: Readonly<Record<string, number>>): void {
    for (const [f, field] of this.fields.entries()) {
      const total = totals[field];
      if (total !== undefined) this.set(thread, f, total);
    }
  }

  /** `setTotals` for a thread that the live sum no longer includes. */
  correctTotals({ slot }: Thread, totals: Readonly<Record<string, number>>): void {
    for (const [f, field] of this.fields.entries()) {
      const total = totals[field];
      if (total !== undefined) this.latest[slot * this.fields.length + f] = total;
    }
  }

  /** Remove an ended thread from the live sum; its last counters stay. */
  subtract({ slot }: Thread): void {
    const at = slot * this.fields.length;
    for (let f = 0; f < this.fields.length; f++) {
      const value = this.latest[at + f] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      this.liveSum[f] = (this.liveSum[f] ?? 0) - value;
      this.having[f] = (this.having[f] ?? 0) - 1;
    }
  }

  /**
   * Set the process' totals to the live sum plus the ended threads' totals, by field. Totals only
   * grow: a thread that moves between the two sums must not cause a dip and a jump.
   */
  sumUp(exited: Readonly<Record<string, number>>): void {
    this.noteSums();
    for (const [f, field] of this.fields.entries()) {
      const dead = exited[field];
      const known = (this.having[f] ?? 0) > 0 || dead !== undefined;
      const sum = (this.liveSum[f] ?? 0) + (dead ?? 0) - (this.before[f] ?? 0);
      const held = this.latest[PROCESS_SLOT * this.fields.length + f] ?? Number.NaN;
      const total = known ? Math.max(sum, Number.isNaN(held) ? sum : held) : Number.NaN;
      if (Object.is(total, this.latest[f])) continue;
      this.latest[PROCESS_SLOT * this.fields.length + f] = total;
      const ring = this.ringOf[f] ?? -1;
      if (ring < 0) continue;
      if (Number.isNaN(this.first[ring] ?? Number.NaN)) this.first[ring] = total;
      this.ringLatest[this.history.indexOf(PROCESS_SLOT, ring)] = total;
      this.history.set(PROCESS_SLOT, ring, total);
    }
  }

  private ensure(slots: number): void {
    if (slots <= this.capacity) return;
    this.capacity = Math.max(slots, Math.ceil(1.5 * this.capacity));
    this.latest = widened(this.latest, this.capacity * this.fields.length);
    this.first = widened(this.first, this.capacity * RING_FIELDS.length);
    this.ringLatest = widened(this.ringLatest, this.capacity * this.history.width);
    this.history.grow(this.capacity);
    this.extra?.grow(this.capacity);
  }
}

function widened(array: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(length).fill(Number.NaN);
  wider.set(array);
  return wider;
}

/** Memory limit: a third of the limit for the nine permanent fields. */
const MAX_BYTES = 32 * 1024 * 1024;

class ExtraRing {
  readonly history: History;
  /** Oldest instant, in seconds since attach; NaN if empty. */
  since_s = Number.NaN;
  private latest = new Float64Array(0);

  /**
   * @param field Name and column in the model's `latest`.
   * @param width Columns per slot in `latest`.
   * @param maxAge_s Retention of instants.
   */
  constructor(
    readonly field: string,
    readonly column: number,
    private readonly width: number,
    slots: number,
    maxAge_s: number,
  ) {
    this.history = new History(1, slots, MAX_BYTES, maxAge_s);
  }

  /** Begin an instant with the values of all slots. */
  begin(time_s: number, all: Float64Array, instants: number): void {
    const slots = all.length / this.width;
    if (this.latest.length !== slots) {
      this.latest = new Float64Array(slots);
      this.history.grow(slots);
    }
    for (let slot = 0; slot < slots; slot++) {
      this.latest[slot] = all[slot * this.width + this.column] ?? Number.NaN;
    }
    if (Number.isNaN(this.since_s)) this.since_s = time_s;
    this.history.begin(time_s, this.latest, instants);
  }

  /** Extend to more slots. */
  grow(slots: number): void {
    this.history.grow(slots);
  }

  /** Drop all instants. */
  restart(): void {
    this.history.restart();
    this.since_s = Number.NaN;
  }

  clear(slot: number): void {
    this.history.clear(slot);
  }

  put(slot: number, value: number): void {
    this.history.set(slot, 0, value);
  }
}
