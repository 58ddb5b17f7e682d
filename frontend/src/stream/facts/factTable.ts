/**
 * A frame table over time: rows of cumulative values under keys beyond threads, such as waker and
 * wakee. Slots are rows. The past is kept like counters' (history.ts): bounded in bytes and age,
 * thinned before eviction.
 */

import { History, type Stretches } from "../history";
import { increase } from "../rate";
import { pickPoints, sparkline } from "../spark";

/** Rows of a table in column arrays: one value per row, numbers or text. */
export interface TableRows {
  readonly rows: number;
  readonly columns: Readonly<Record<string, ArrayLike<number> | readonly string[]>>;
}

/** Columns of a table. */
export interface TableShape {
  readonly keys: readonly string[];
  /** Cumulative since attach. */
  readonly values: readonly string[];
  /** Descriptive numbers and texts of a row. */
  readonly facts: readonly string[];
  readonly maxBytes: number;
}

/** Instants and length of a window. */
export interface FactWindow {
  readonly stretches: Stretches;
  readonly t0_s: number;
  readonly t1_s: number;
  /** Seconds from the first instant to the last, or to now if nothing changed since; 0 if unknown. */
  readonly seconds: number;
}

/** Maximum rows kept, including rows that the collector has dropped. */
const MAX_ROWS = 2 * 65_536;
/** Instants per block: half a minute, as tables come about once a second. */
const INSTANTS = 32;
/**
 * Time without a table after which its values count as unchanged, in seconds: tables come about
 * once a second if a row changed.
 */
const QUIET_S = 2;

export class FactTable {
  /** Rows missing here: omitted by the collector, or for lack of space. */
  omitted = 0;
  private readonly slots = new Map<string, number>();
  private readonly keys: Uint32Array[];
  private readonly texts: readonly (string | number)[][];
  /** Float64[slots * values]: newest values, and the offset subtracted from frame values. */
  private latest = new Float64Array(0);
  private offset = new Float64Array(0);
  /** Time at which a row disappeared; NaN while present. */
  private readonly gone_s: number[] = [];
  private readonly sinceBlock: number[] = [];
  private readonly free: number[] = [];
  private capacity = 0;
  private dropped = 0;
  private quiet_s = QUIET_S;
  private readonly history: History;

  /** @param maxAge_s Retention of the past. */
  constructor(
    private readonly shape: TableShape,
    private readonly maxAge_s = 600,
  ) {
    this.keys = shape.keys.map(() => new Uint32Array(0));
    this.texts = shape.facts.map(() => []);
    this.history = new History(shape.values.length, 1, shape.maxBytes, maxAge_s);
    this.ensure(16);
  }

  /** Memory of the past, in bytes. */
  get bytes(): number {
    return this.history.bytes;
  }

  /** Slots of all rows. */
  all(): Iterable<number> {
    return this.slots.values();
  }

  /**
   * Begin an instant; values without `set` persist.
   * @param quiet_s Time without an instant after which values count as unchanged.
   */
  begin(t_s: number, quiet_s = QUIET_S): void {
    this.quiet_s = quiet_s;
    this.history.begin(t_s, this.latest, INSTANTS);
  }

  /** Drop the past; history restarts with the next instant. */
  forgetPast(): void {
    this.history.restart();
  }

  /** Whether rows contain unknown values. */
  differs(table: TableRows, whole: boolean): boolean {
    const { shape } = this;
    const keys = shape.keys.map((name) => numbersOf(table, name));
    const values = shape.values.map((name) => numbersOf(table, name));
    const width = values.length;
    let there = 0;
    for (let row = 0; row < table.rows; row++) {
      const slot = this.slots.get(keys.map((column) => column[row] ?? 0).join());
      if (slot === undefined || !Number.isNaN(this.gone_s[slot] ?? Number.NaN)) return true;
      for (let f = 0; f < width; f++) {
        const at = slot * width + f;
        const value = (values[f]?.[row] ?? 0) - (this.offset[at] ?? 0);
        if (value !== this.latest[at]) return true;
      }
      there++;
    }
    if (!whole) return false;
    let held = 0;
    for (const slot of this.slots.values()) {
      if (Number.isNaN(this.gone_s[slot] ?? Number.NaN)) held++;
    }
    return held !== there;
  }

  /**
   * Set the rows of the current instant. A row is gone if all its figures are 0, or if a whole
   * table omits it. Its values move to thread ID 0, where they are not counted again.
   * @param omitted Number of rows that the collector dropped beyond its limit.
   * @param whole True if the table is complete.
   */
  take(table: TableRows, omitted: number, t_s: number, whole: boolean): void {
    const { shape } = this;
    const keys = shape.keys.map((name) => numbersOf(table, name));
    const values = shape.values.map((name) => numbersOf(table, name));
    const facts = shape.facts.map((name) => table.columns[name] ?? []);
    const nameOf = (row: number): string => keys.map((column) => column[row] ?? 0).join();
    const given: number[] = [];
    const gone: string[] = [];
    for (let row = 0; row < table.rows; row++) {
      if (values.length === 0 || values.some((column) => (column[row] ?? 0) !== 0)) given.push(row);
      else gone.push(nameOf(row));
    }
    if (whole) gone.push(...this.missing(new Set(given.map(nameOf))));
    this.dropped = whole ? 0 : this.dropped;
    if (gone.length > 0) {
      const rows = new Map(given.map((row) => [nameOf(row), row]));
      for (const name of gone) {
        this.hide(name, t_s, (other, field) => values[field]?.[rows.get(other) ?? -1]);
      }
    }
    for (const row of given) {
      const slot = this.slotOf(keys.map((column) => column[row] ?? 0));
      if (slot < 0) continue;
      this.revive(slot);
      for (const [f, column] of values.entries()) this.set(slot, f, column[row] ?? 0);
      for (const [f, column] of facts.entries()) {
        const texts = this.texts[f];
        if (texts) texts[slot] = column[row] ?? "";
      }
    }
    if (whole) this.forget(t_s);
    this.omitted = omitted + this.dropped;
  }

  /** A key of a row, by its index in the shape. */
  key(slot: number, place: number): number {
    return this.keys[place]?.[slot] ?? 0;
  }

  /** Whether the newest table has a row. */
  isThere(slot: number): boolean {
    return Number.isNaN(this.gone_s[slot] ?? Number.NaN);
  }

  /** A descriptive number of a row, by its index among the facts. */
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

  /** The past within a span, with the instant before it. */
  window(t0_s: number, t1_s: number): FactWindow {
    const stretches = this.history.between(t0_s, t1_s);
    const { n, time_s } = stretches;
    const first_s = time_s[0] ?? Number.NaN;
    // Nothing changed since the last instant, or a newer one would have come.
    const last_s = Math.max(time_s[n - 1] ?? Number.NaN, t1_s - this.quiet_s);
    const seconds = n > 0 ? last_s - first_s : 0;
    return { stretches, t0_s: first_s, t1_s: last_s, seconds };
  }

  /** Growth of a value within a window; 0 if unchanged or restarted. */
  grown({ stretches }: FactWindow, slot: number, field: number): number {
    const since = this.sinceBlock[slot] ?? 0;
    const before = this.history.at(stretches, "first", slot, field, since);
    const after = this.history.at(stretches, "last", slot, field, since);
    // Values count from attach: a row that did not exist yet was 0.
    const grown = increase(known(before), known(after), 1);
    return Number.isNaN(grown) ? known(after) : grown;
  }

  /**
   * Rate of the sum of some rows over a span.
   * @returns Float32[points], units per second, oldest first; NaN if unknown.
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

  private set(slot: number, field: number, raw: number): void {
    const at = slot * this.shape.values.length + field;
    const value = raw - (this.offset[at] ?? 0);
    if (this.latest[at] === value) return;
    this.latest[at] = value;
    this.history.set(slot, field, value);
  }

  /** Names of present rows that a whole table omits. */
  private missing(given: ReadonlySet<string>): readonly string[] {
    const names: string[] = [];
    for (const [name, slot] of this.slots) {
      if (!given.has(name) && Number.isNaN(this.gone_s[slot] ?? Number.NaN)) names.push(name);
    }
    return names;
  }

  /**
   * Hide a vanished row: its values stay, and are subtracted from the row that inherits them.
   * @param raw Figure of another row of this instant; undefined if missing.
   */
  private hide(
    name: string,
    t_s: number,
    raw: (name: string, field: number) => number | undefined,
  ): void {
    const slot = this.slots.get(name);
    if (slot === undefined || !Number.isNaN(this.gone_s[slot] ?? Number.NaN)) return;
    this.gone_s[slot] = t_s;
    const width = this.shape.values.length;
    const had = Array.from({ length: width }, (_, f) => known(this.latest[slot * width + f] ?? 0));
    for (const heir of this.heirsOf(slot)) {
      if (raw(heir.join(), 0) === undefined) continue;
      const other = this.slotOf(heir);
      if (other < 0) return;
      const at = other * width;
      // Growth, less the values inherited from other rows.
      const grown = had.map((_, f) => {
        const offset = this.offset[at + f] ?? 0;
        return (raw(heir.join(), f) ?? 0) - offset - known(this.latest[at + f] ?? 0);
      });
      if (had.some((value, f) => value > (grown[f] ?? 0))) continue;
      for (const [f, value] of had.entries()) {
        this.offset[at + f] = (this.offset[at + f] ?? 0) + value;
      }
      return;
    }
  }

  /**
   * Candidate keys that may inherit a row's values: without one of its threads, or without both.
   */
  private heirsOf(slot: number): readonly (readonly number[])[] {
    const key = this.keys.map((column) => column[slot] ?? 0);
    const places = this.shape.keys.flatMap((name, place) =>
      name.endsWith("tid") && key[place] !== 0 ? [place] : [],
    );
    const without = (some: readonly number[]): number[] =>
      key.map((each, place) => (some.includes(place) ? 0 : each));
    const single = places.map((place) => without([place]));
    return places.length > 1 ? [...single, without(places)] : single;
  }

  /** A vanished row is back: its thread ID was recycled, and counts from 0. */
  private revive(slot: number): void {
    if (Number.isNaN(this.gone_s[slot] ?? Number.NaN)) return;
    this.gone_s[slot] = Number.NaN;
    const width = this.shape.values.length;
    for (let at = slot * width; at < (slot + 1) * width; at++) {
      this.offset[at] = -known(this.latest[at] ?? 0);
    }
  }

  /** Slot of a row, allocated if unknown; -1 if there is no space. */
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
    this.offset.fill(0, slot * width, (slot + 1) * width);
    this.gone_s[slot] = Number.NaN;
    this.history.clear(slot);
    return slot;
  }

  /** Forget rows that vanished before the retained past. */
  private forget(t_s: number): void {
    for (const [name, slot] of this.slots) {
      if (t_s - (this.gone_s[slot] ?? Number.NaN) > this.maxAge_s) {
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
    const offset = new Float64Array(latest.length);
    offset.set(this.offset);
    this.offset = offset;
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
