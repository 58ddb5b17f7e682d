/**
 * The recent past of cumulative counters, for many threads at once.
 *
 * Time is divided into blocks of instants shared by all threads. In a block, a thread's unchanged
 * field is one number (`base`); a changed one is a column with a value per instant. An idle thread
 * thus costs 12 bytes per field and block, a busy one 8 bytes per field and instant.
 *
 * Bounds: `maxBytes` (default 96 MiB) and `maxAge_s` (10 minutes). At 10 samples per second with
 * three busy fields per thread, 96 MiB hold 10 minutes of 650 threads in full. Beyond that the
 * oldest blocks are thinned to one instant per second: 10 minutes of 3,000 busy threads. Thinning
 * loses no totals, since counters are cumulative. Beyond that the oldest blocks are evicted: 5,000
 * busy threads keep about 5 minutes.
 */

import { addColumn, type Block, bytesOf, newBlock, thinnedBlock } from "./historyBlock";

/** Instants [from, to) of a block. */
interface Stretch {
  readonly block: Block;
  readonly from: number;
  readonly to: number;
}

/** A time span: its instants, in order. */
export interface Stretches {
  readonly n: number;
  readonly time_s: Float64Array;
  readonly parts: readonly Stretch[];
}

export class History {
  /** Counters kept per slot. */
  width: number;
  /** Index of each field among the kept ones; -1 if not kept. */
  private place: Int32Array;
  private readonly blocks: Block[] = [];
  private nextId = 0;
  private slots: number;
  private held = 0;

  /**
   * @param fields Counters per slot.
   * @param slots Initial number of slots; `grow` adds more.
   * @param maxBytes Maximum size of the arrays.
   * @param maxAge_s Retention of instants.
   */
  constructor(
    fields: number,
    slots: number,
    private readonly maxBytes = 96 * 1024 * 1024,
    readonly maxAge_s = 600,
  ) {
    this.slots = slots;
    this.width = fields;
    this.place = Int32Array.from({ length: fields }, (_, field) => field);
  }

  /**
   * Keep only these fields; call before the first instant. Fields that a target lacks take no
   * memory.
   */
  keep(fields: readonly number[]): void {
    this.width = fields.length;
    this.place = this.place.map((_, field) => fields.indexOf(field));
  }

  /** Index of a slot's field in the array for `begin`; -1 if not kept. */
  indexOf(slot: number, field: number): number {
    const place = this.place[field] ?? -1;
    return place < 0 ? -1 : slot * this.width + place;
  }

  /** Memory of the arrays, in bytes. */
  get bytes(): number {
    return this.held;
  }

  /** Time of the oldest instant; NaN if empty. */
  get from_s(): number {
    return this.blocks[0]?.time_s[0] ?? Number.NaN;
  }

  /** ID of the current block. Older blocks of a new slot hold its previous owner's values. */
  get blockId(): number {
    return this.blocks.at(-1)?.id ?? 0;
  }

  /** Allocate more slots. */
  grow(slots: number): void {
    const block = this.blocks.at(-1);
    this.slots = slots;
    if (!block || block.base.length >= slots * this.width) return;
    const base = new Float64Array(slots * this.width).fill(Number.NaN);
    base.set(block.base);
    const index = new Int32Array(slots * this.width).fill(-1);
    index.set(block.index);
    this.held += base.byteLength - block.base.byteLength;
    this.held += index.byteLength - block.index.byteLength;
    block.base = base;
    block.index = index;
  }

  /**
   * Begin an instant, which later `set` calls write to.
   * @param time_s Later than the previous instant.
   * @param latest Float64[slots * width], placed by `indexOf`: values in effect unless `set`
   * changes them.
   * @param instants Capacity of a new block: some seconds' worth.
   */
  begin(time_s: number, latest: Float64Array, instants: number): void {
    let block = this.blocks.at(-1);
    if (!block || block.count >= block.stride) {
      this.makeRoom(time_s);
      block = this.open(latest, Math.min(1024, Math.max(8, Math.round(instants))));
    }
    block.time_s[block.count] = time_s;
    block.count++;
  }

  /** Set a slot's field from the current instant on. */
  set(slot: number, field: number, value: number): void {
    const block = this.blocks.at(-1);
    if (!block) return;
    const at = this.indexOf(slot, field);
    if (at < 0) return;
    let column = block.index[at] ?? -1;
    if (column < 0) {
      column = this.addColumn(block);
      block.index[at] = column;
      block.pool[column * block.stride] = block.base[at] ?? Number.NaN;
      block.filled[column] = 1;
    }
    const { pool, filled, stride } = block;
    const start = column * stride;
    const done = filled[column] ?? 0;
    const now = block.count - 1;
    // Instants since the last write hold the last value.
    if (done < now) pool.fill(pool[start + done - 1] ?? Number.NaN, start + done, start + now);
    pool[start + now] = value;
    filled[column] = now + 1;
  }

  /** Drop all instants; the next one is the oldest. */
  restart(): void {
    while (this.blocks.length > 0) this.drop();
  }

  /** Slot reused by another owner: drop its values in the current block. */
  clear(slot: number): void {
    const block = this.blocks.at(-1);
    if (!block) return;
    const at = slot * this.width;
    block.base.fill(Number.NaN, at, at + this.width);
    block.index.fill(-1, at, at + this.width);
  }

  /** The instants up to `t1_s`, starting with the last one at or before `t0_s`. */
  between(t0_s: number, t1_s: number): Stretches {
    const parts: Stretch[] = [];
    let n = 0;
    for (let b = 0; b < this.blocks.length; b++) {
      const block = this.blocks[b];
      if (!block || block.count === 0) continue;
      const next = this.blocks[b + 1]?.time_s[0] ?? Number.POSITIVE_INFINITY;
      if ((block.time_s[0] ?? 0) > t1_s) break;
      if (next <= t0_s) continue;
      const from = Math.max(0, firstAbove(block.time_s, block.count, t0_s) - 1);
      const to = firstAbove(block.time_s, block.count, t1_s);
      if (to > from) {
        parts.push({ block, from, to });
        n += to - from;
      }
    }
    const time_s = new Float64Array(n);
    let at = 0;
    for (const { block, from, to } of parts) {
      time_s.set(block.time_s.subarray(from, to), at);
      at += to - from;
    }
    return { n, time_s, parts };
  }

  /**
   * Read a slot's field at these instants.
   * @param sinceBlock First block in which the slot has this owner; NaN before.
   * @param out Float64[n], at least.
   */
  read(
    stretches: Stretches,
    slot: number,
    field: number,
    sinceBlock: number,
    out: Float64Array,
  ): void {
    const key = this.indexOf(slot, field);
    let at = 0;
    for (const { block, from, to } of stretches.parts) {
      const end = at + to - from;
      const column = key < 0 || block.id < sinceBlock ? -2 : (block.index[key] ?? -2);
      if (column < 0) {
        out.fill(column === -1 ? (block.base[key] ?? Number.NaN) : Number.NaN, at, end);
      } else {
        const start = column * block.stride;
        const done = Math.min(to, block.filled[column] ?? 0);
        if (done > from) out.set(block.pool.subarray(start + from, start + done), at);
        const rest = at + Math.max(0, done - from);
        if (rest < end) {
          out.fill(block.pool[start + (block.filled[column] ?? 1) - 1] ?? Number.NaN, rest, end);
        }
      }
      at = end;
    }
  }

  /**
   * Read a slot's field at some of these instants.
   * @param picks Indices of the instants, ascending.
   * @param out Float64[picks], at least; filled as by `read`.
   */
  readAt(
    stretches: Stretches,
    picks: Int32Array,
    slot: number,
    field: number,
    sinceBlock: number,
    out: Float64Array,
  ): void {
    const key = this.indexOf(slot, field);
    let p = 0;
    let at = 0;
    for (const { block, from, to } of stretches.parts) {
      const end = at + to - from;
      const column = key < 0 || block.id < sinceBlock ? -2 : (block.index[key] ?? -2);
      const held = column === -1 ? (block.base[key] ?? Number.NaN) : Number.NaN;
      const start = column * block.stride;
      const last = column < 0 ? 0 : (block.filled[column] ?? 1) - 1;
      for (; p < picks.length && (picks[p] ?? 0) < end; p++) {
        const instant = Math.min(from + (picks[p] ?? 0) - at, last);
        out[p] = column < 0 ? held : (block.pool[start + instant] ?? Number.NaN);
      }
      at = end;
    }
  }

  /**
   * Read some fields of a slot, at all or some of these instants.
   * @param picks Indices of the instants, ascending; null: all.
   * @param out Float64[fields * instants], at least: one field after another, filled as by `read`.
   * @param wanted Uint8[fields]: a field with 0 is read only if it changes within these instants,
   * and set to 1. Omit to read all fields.
   */
  readFields(
    stretches: Stretches,
    picks: Int32Array | null,
    slot: number,
    fields: Int32Array,
    sinceBlock: number,
    out: Float64Array,
    wanted?: Uint8Array,
  ): void {
    const n = picks?.length ?? stretches.n;
    for (let f = 0; wanted && f < fields.length; f++) {
      if (wanted[f] !== 0) continue;
      if (this.moves(stretches, slot, fields[f] ?? -1, sinceBlock)) wanted[f] = 1;
    }
    let p = 0;
    let at = 0;
    for (const { block, from, to } of stretches.parts) {
      const end = at + to - from;
      let next = picks ? p : end;
      while (picks && next < n && (picks[next] ?? 0) < end) next++;
      for (let f = 0; f < fields.length; f++) {
        if (wanted?.[f] === 0) continue;
        const key = this.indexOf(slot, fields[f] ?? -1);
        const column = key < 0 || block.id < sinceBlock ? -2 : (block.index[key] ?? -2);
        if (column < 0) {
          const held = column === -1 ? (block.base[key] ?? Number.NaN) : Number.NaN;
          out.fill(held, f * n + p, f * n + next);
          continue;
        }
        const { pool } = block;
        const start = column * block.stride;
        const last = start + (block.filled[column] ?? 1) - 1;
        const first = start + from - at;
        for (let i = p; i < next; i++) {
          const value = first + (picks ? (picks[i] ?? 0) : i);
          out[f * n + i] = pool[Math.min(value, last)] ?? Number.NaN;
        }
      }
      p = next;
      at = end;
    }
  }

  /** Whether a slot's field may have several values at these instants. */
  private moves({ parts }: Stretches, slot: number, field: number, sinceBlock: number): boolean {
    const key = this.indexOf(slot, field);
    for (let p = 0; p < parts.length; p++) {
      const { block, from } = parts[p] as Stretch;
      if (block.id < sinceBlock) return true;
      const column = block.index[key] ?? -1;
      // Each block begins with the last value of the previous block.
      if (column >= 0 && (p > 0 || (block.filled[column] ?? 0) > from + 1)) return true;
    }
    return false;
  }

  /** Value of a slot's field at the first (or last) of these instants. */
  at(
    stretches: Stretches,
    end: "first" | "last",
    slot: number,
    field: number,
    sinceBlock: number,
  ): number {
    const part = end === "first" ? stretches.parts[0] : stretches.parts.at(-1);
    if (!part || part.block.id < sinceBlock) return Number.NaN;
    const { block } = part;
    const key = this.indexOf(slot, field);
    const column = block.index[key] ?? -2;
    if (column < 0) return column === -1 ? (block.base[key] ?? Number.NaN) : Number.NaN;
    const instant = end === "first" ? part.from : part.to - 1;
    const last = (block.filled[column] ?? 1) - 1;
    return block.pool[column * block.stride + Math.min(instant, last)] ?? Number.NaN;
  }

  private open(latest: Float64Array, stride: number): Block {
    const block = newBlock(this.nextId++, latest, this.slots * this.width, stride);
    this.held += bytesOf(block);
    this.blocks.push(block);
    return block;
  }

  private addColumn(block: Block): number {
    const before = bytesOf(block);
    const column = addColumn(block);
    this.held += bytesOf(block) - before;
    return column;
  }

  private makeRoom(now_s: number): void {
    while (this.blocks.length > 1 && this.lastTime(0) < now_s - this.maxAge_s) this.drop();
    const newest = this.blocks.at(-1);
    // The next block will grow about as large as the previous one.
    const limit = this.maxBytes - (newest ? bytesOf(newest) : 0);
    for (let b = 0; b < this.blocks.length && this.held > limit; b++) this.thin(b);
    while (this.blocks.length > 1 && this.held > limit) this.drop();
  }

  private lastTime(b: number): number {
    const block = this.blocks[b];
    return block?.time_s[block.count - 1] ?? Number.NaN;
  }

  private drop(): void {
    const block = this.blocks.shift();
    if (block) this.held -= bytesOf(block);
  }

  private thin(b: number): void {
    const block = this.blocks[b];
    if (!block || block.thinned) return;
    const thinned = thinnedBlock(block);
    this.blocks[b] = thinned;
    this.held += bytesOf(thinned) - bytesOf(block);
  }
}

/** Index of the first time above `t`; `n` if none. */
function firstAbove(time_s: Float64Array, n: number, t: number): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((time_s[middle] ?? 0) > t) high = middle;
    else low = middle + 1;
  }
  return low;
}
