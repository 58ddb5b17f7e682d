/**
 * A frame table over time: rows of cumulative values under keys that are not threads alone, such as
 * waker and wakee. Slots are rows, and the past is kept as that of counters is (history.ts): bounded
 * in bytes and age, thinned before it is forgotten.
 */

import { History, type Stretches } from "../history";
import { increase } from "../rate";
import { pickPoints, sparkline } from "../spark";

/** Rows of a table as a frame has them: a value a row, numbers or text. */
export interface TableRows {
  readonly rows: number;
  readonly columns: Readonly<Record<string, ArrayLike<number> | readonly string[]>>;
}

/** What a table has. */
export interface TableShape {
  readonly keys: readonly string[];
  /** Cumulative since attach. */
  readonly values: readonly string[];
  /** Numbers and texts that describe a row. */
  readonly facts: readonly string[];
  readonly maxBytes: number;
}

/** Instants of a window, and how long it is. */
export interface FactWindow {
  readonly stretches: Stretches;
  readonly t0_s: number;
  readonly t1_s: number;
  /** From the first instant to the last; 0 while there are not two. */
  readonly seconds: number;
}

/** Rows that are kept, those that the collector has forgotten included. */
const MAX_ROWS = 2 * 65_536;
/** Tables come about once a second: a block has half a minute. */
const INSTANTS = 32;
/** Without a row that changed, tables may be left out for so long. */
const QUIET_S = 2;

export class FactTable {
  /** Rows that are not here: left out by the collector, or for lack of room. */
  omitted = 0;
  private readonly slots = new Map<string, number>();
  private readonly keys: Uint32Array[];
  private readonly texts: readonly (string | number)[][];
  private latest = new Float64Array(0);
  /** When a row was not in a whole table any more; NaN while it is. */
  private readonly gone_s: number[] = [];
  private readonly sinceBlock: number[] = [];
  private readonly free: number[] = [];
  private capacity = 0;
  private dropped = 0;
  private readonly history: History;

  /** @param maxAge_s How long the past is kept. */
  constructor(
    private readonly shape: TableShape,
    private readonly maxAge_s = 600,
  ) {
    this.keys = shape.keys.map(() => new Uint32Array(0));
    this.texts = shape.facts.map(() => []);
    this.history = new History(shape.values.length, 1, shape.maxBytes, maxAge_s);
    this.ensure(16);
  }

  /** Bytes that the past takes. */
  get bytes(): number {
    return this.history.bytes;
  }

  /** Slots of all rows. */
  all(): Iterable<number> {
    return this.slots.values();
  }

  /** Begin an instant: what is not set holds. */
  begin(t_s: number): void {
    this.history.begin(t_s, this.latest, INSTANTS);
  }

  /** Forget the past but the newest instant: the next comes after frames that nobody looks at. */
  resume(t_s: number): void {
    this.history.restart();
    this.begin(t_s);
  }

  /**
   * Rows of the instant that was begun last.
   *
   * @param omitted Rows that the collector left out because there were too many.
   * @param whole All rows there are: others are gone.
   */
  take(table: TableRows, omitted: number, t_s: number, whole: boolean): void {
    const { shape } = this;
    const keys = shape.keys.map((name) => numbersOf(table, name));
    const values = shape.values.map((name) => numbersOf(table, name));
    const facts = shape.facts.map((name) => table.columns[name] ?? []);
    const seen = whole ? new Set<number>() : null;
    this.dropped = whole ? 0 : this.dropped;
    for (let row = 0; row < table.rows; row++) {
      const slot = this.slotOf(keys.map((column) => column[row] ?? 0));
      if (slot < 0) continue;
      seen?.add(slot);
      this.gone_s[slot] = Number.NaN;
      for (const [f, column] of values.entries()) this.set(slot, f, column[row] ?? 0);
      for (const [f, column] of facts.entries()) {
        const texts = this.texts[f];
        if (texts) texts[slot] = column[row] ?? "";
      }
    }
    if (seen) this.retire(seen, t_s);
    this.omitted = omitted + this.dropped;
  }

  /** A key of a row, by its place in the shape. */
  key(slot: number, place: number): number {
    return this.keys[place]?.[slot] ?? 0;
  }

  /** A number that describes a row, by its place among the facts. */
  fact(slot: number, place: number): number {
    const value = this.texts[place]?.[slot];
    return typeof value === "number" ? value : 0;
  }

  text(slot: number, place: number): string {
    const value = this.texts[place]?.[slot];
    return typeof value === "string" ? value : "";
  }

  /** Latest value of a row, cumulative since attach. */
  total(slot: number, field: number): number {
    return this.latest[slot * this.shape.values.length + field] ?? 0;
  }

  /** The part of the past that a span covers, with the instant before it. */
  window(t0_s: number, t1_s: number): FactWindow {
    const stretches = this.history.between(t0_s, t1_s);
    const { n, time_s } = stretches;
    const first_s = time_s[0] ?? Number.NaN;
    // Nothing changed since the last one, or it would have come.
    const last_s = Math.max(time_s[n - 1] ?? Number.NaN, t1_s - QUIET_S);
    const seconds = n > 1 ? last_s - first_s : 0;
    return { stretches, t0_s: first_s, t1_s: last_s, seconds };
  }

  /** How much a value grew within a window; 0 where it did not, or where it began again. */
  grown({ stretches }: FactWindow, slot: number, field: number): number {
    const since = this.sinceBlock[slot] ?? 0;
    const before = this.history.at(stretches, "first", slot, field, since);
    const after = this.history.at(stretches, "last", slot, field, since);
    // Values count from attach: a row that was not there yet stood at 0.
    const grown = increase(known(before), known(after), 1);
    return Number.isNaN(grown) ? known(after) : grown;
  }

  /**
   * Rate of the sum of some rows over a span.
   *
   * @returns Float32[points], units a second, oldest first; NaN where there is none.
   */
  trend(
    { stretches }: FactWindow,
    rows: Iterable<number>,
    field: number,
    t0_s: number,
    t1_s: number,
    points: number,
  ): Float32Array {
    const picks = pickPoints(stretches, t0_s, t1_s, points);
    const n = picks.length;
    const time_s = Float64Array.from(picks, (pick) => stretches.time_s[pick] ?? Number.NaN);
    const sum = new Float64Array(n);
    const one = new Float64Array(n);
    for (const slot of rows) {
      const since = this.sinceBlock[slot] ?? 0;
      this.history.readAt(stretches, picks, slot, field, since, one);
      for (let i = 0; i < n; i++) sum[i] = (sum[i] ?? 0) + known(one[i] ?? 0);
    }
    return sparkline({ n, time_s }, sum, t0_s, t1_s, points, 1);
  }

  private set(slot: number, field: number, value: number): void {
    const at = slot * this.shape.values.length + field;
    if (this.latest[at] === value) return;
    this.latest[at] = value;
    this.history.set(slot, field, value);
  }

  /** Slot of a row, a new one if it is not known; -1: there is no room. */
  private slotOf(key: readonly number[]): number {
    const name = key.join();
    const held = this.slots.get(name);
    if (held !== undefined) return held;
    if (this.slots.size >= MAX_ROWS) {
      this.dropped++;
      return -1;
    }
    const slot = this.free.pop() ?? this.slots.size;
    this.ensure(slot + 1);
    this.slots.set(name, slot);
    this.sinceBlock[slot] = this.history.blockId;
    for (const [k, column] of this.keys.entries()) column[slot] = key[k] ?? 0;
    const width = this.shape.values.length;
    this.latest.fill(Number.NaN, slot * width, (slot + 1) * width);
    this.history.clear(slot);
    return slot;
  }

  /** What a whole table does not name is gone: its past stays for as long as there is one. */
  private retire(seen: ReadonlySet<number>, t_s: number): void {
    for (const [name, slot] of this.slots) {
      if (seen.has(slot)) continue;
      const gone_s = this.gone_s[slot] ?? Number.NaN;
      if (Number.isNaN(gone_s)) this.gone_s[slot] = t_s;
      else if (t_s - gone_s > this.maxAge_s) {
        this.slots.delete(name);
        this.free.push(slot);
      }
    }
  }

  private ensure(slots: number): void {
    if (slots <= this.capacity) return;
    this.capacity = Math.max(slots, Math.ceil(1.5 * this.capacity));
    const latest = new Float64Array(this.capacity * this.shape.values.length).fill(Number.NaN);
    latest.set(this.latest);
    this.latest = latest;
    for (const [k, column] of this.keys.entries()) {
      const wider = new Uint32Array(this.capacity);
      wider.set(column);
      this.keys[k] = wider;
    }
    this.history.grow(this.capacity);
  }
}

function numbersOf(table: TableRows, name: string): ArrayLike<number> {
  return (table.columns[name] ?? []) as ArrayLike<number>;
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
