/**
 * The ledgers of threads: how long each was in each state, and the recent past of it. Slots are those
 * of threads.ts.
 */

import { History, type Stretches } from "./history";
import { SINCE_FIELD, STATE_FIELD, STATES } from "./states";
import type { Thread } from "./threads";

/** Values a slot: the state it is in, since when, and the time of finished stays in each. */
const CURRENT = 0;
const SINCE = 1;
const FIRST = 2;
const WIDTH = FIRST + STATES.length;

const MAX_BYTES = 96 * 1024 * 1024;
/** A block that is being written takes no more, if eight values of each slot move all the time. */
const BLOCK_BYTES = MAX_BYTES / 12;
const MOVING = 8;
/** Instants of a block. Each block costs a copy of all values. */
const MIN_INSTANTS = 24;
const MAX_INSTANTS = 256;

/** Place of each field of ledgers within a slot. */
const PLACES = new Map<string, number>([
  [STATE_FIELD, CURRENT],
  [SINCE_FIELD, SINCE],
  ...STATES.map(({ field, number }): [string, number] => [field, placeOf(number)]),
]);

function placeOf(number: number): number {
  return FIRST + number - 1;
}

/** Field of the history that a value is in. */
export const RINGS = { current: CURRENT, since: SINCE, ofState: placeOf } as const;

export class StateLog {
  readonly history: History;
  /** The frames of the target have ledgers. */
  there = false;
  /** Numbers of states in which a thread has been so far. */
  readonly present: number[] = [];
  /** Float64[slots * WIDTH]: newest values; NaN: the thread has no ledger. */
  private latest = new Float64Array(0);
  /** Float64[slots]: when a thread was first switched, seconds since attach; NaN: not yet. */
  private switched = new Float64Array(0);
  /** Int32[slots]: block of the history in which a slot became its thread's. */
  private owned = new Int32Array(0);
  private capacity = 0;
  private order: readonly number[] = [];
  private orderFor: readonly string[] | null = null;

  /** @param maxAge_s How long instants are kept. */
  constructor(maxAge_s: number) {
    this.history = new History(WIDTH, 1, MAX_BYTES, maxAge_s);
  }

  /** Place of each column of a frame within a slot; -1: it is of no ledger. */
  placesOf(fields: readonly string[]): readonly number[] {
    const same = this.orderFor?.length === fields.length;
    if (!same || this.orderFor?.some((field, i) => field !== fields[i])) {
      this.order = fields.map((field) => PLACES.get(field) ?? -1);
      this.orderFor = fields;
      this.there ||= fields.includes(STATE_FIELD);
    }
    return this.order;
  }

  /** Begin an instant of the past, with so many threads. */
  begin(t_s: number, threads: number): void {
    if (!this.there) return;
    const each = Math.max(1, this.capacity, threads) * MOVING * 8;
    const instants = Math.round(BLOCK_BYTES / each);
    this.history.begin(t_s, this.latest, Math.min(MAX_INSTANTS, Math.max(MIN_INSTANTS, instants)));
  }

  /** The past that is kept begins with the instant that comes now. */
  forgetPast(): void {
    this.history.restart();
  }

  /** First block in which a slot is its thread's. */
  sinceBlock({ slot }: Thread): number {
    return this.owned[slot] ?? 0;
  }

  /** A slot is another thread's now. */
  clear({ slot, start_ns }: Thread): void {
    if (!this.there) return;
    this.ensure(slot + 1);
    this.latest.fill(Number.NaN, slot * WIDTH, (slot + 1) * WIDTH);
    this.history.clear(slot);
    this.owned[slot] = this.history.blockId;
    // Only of those that were there before us /proc had to say what they do.
    this.switched[slot] = start_ns < 0 ? Number.NaN : 0;
  }

  /** Set a value of a thread; NaN leaves it as it is. */
  set({ slot }: Thread, place: number, value: number, t_s: number): void {
    this.ensure(slot + 1);
    const at = slot * WIDTH + place;
    if (value === this.latest[at] || Number.isNaN(value)) return;
    this.latest[at] = value;
    this.history.set(slot, place, value);
    if (place >= FIRST) {
      if (value === 0) return;
      this.note(place - FIRST + 1);
      if (Number.isNaN(this.switched[slot] ?? 0)) this.switched[slot] = t_s;
    } else if (place === CURRENT) this.note(value);
  }

  /** Set what an exit record says: nothing is under way any more. */
  end(thread: Thread, totals: Readonly<Record<string, number>>, t_s: number): void {
    if (!this.there) return;
    let known = false;
    for (const [field, value] of Object.entries(totals)) {
      const place = PLACES.get(field) ?? -1;
      if (place < FIRST) continue;
      known = true;
      this.set(thread, place, value, t_s);
    }
    if (known) this.set(thread, CURRENT, 0, t_s);
  }

  /** State that a thread is in, and since when, seconds since attach; null: it has no ledger. */
  currentOf({ slot }: Thread): { readonly number: number; readonly since_s: number } | null {
    const number = this.latest[slot * WIDTH + CURRENT] ?? Number.NaN;
    if (Number.isNaN(number)) return null;
    return { number, since_s: (this.latest[slot * WIDTH + SINCE] ?? 0) / 1e9 };
  }

  /** Time of finished stays in a state, ns. */
  finishedOf({ slot }: Thread, number: number): number {
    return this.latest[slot * WIDTH + placeOf(number)] ?? Number.NaN;
  }

  /** Until when a thread had not been switched since attach: its state is what /proc said. */
  unswitchedUntil({ slot }: Thread): number {
    const switched = this.switched[slot] ?? 0;
    return Number.isNaN(switched) ? Number.POSITIVE_INFINITY : switched;
  }

  private note(number: number): void {
    if (number >= 1 && number <= STATES.length && !this.present.includes(number)) {
      this.present.push(number);
    }
  }

  private ensure(slots: number): void {
    if (slots <= this.capacity) return;
    this.capacity = Math.max(slots, Math.ceil(1.5 * this.capacity));
    const latest = new Float64Array(this.capacity * WIDTH).fill(Number.NaN);
    latest.set(this.latest);
    this.latest = latest;
    const switched = new Float64Array(this.capacity);
    switched.set(this.switched);
    this.switched = switched;
    const owned = new Int32Array(this.capacity);
    owned.set(this.owned);
    this.owned = owned;
    this.history.grow(this.capacity);
  }
}

/** Reads thread after thread. */
export class StateReader {
  /** Times of the instants, seconds since attach, and how many there are. */
  readonly time_s: Float64Array;
  readonly n: number;
  /** The state in which the thread was at all instants and between them; 0: there were several. */
  steady = 0;
  /** Numbers of the states in which it was within the stretch. */
  readonly moving: number[] = [];
  /** First instant at which it is known. */
  first = 0;
  /**
   * Float64[(2 + states) * n]: nanoseconds in each state since its ledger began, n values from
   * `placeOf` on; NaN where it is not known. After its end they stand still. Those of states that are
   * not in `moving` are there after `loadAll` only.
   */
  readonly values: Float64Array;
  private readonly present: readonly number[];
  /** Fields of the state at an instant, and those of finished stays; where the latter go. */
  private readonly now = Int32Array.of(RINGS.current, RINGS.since);
  private readonly fields: Int32Array;
  private readonly finished: Float64Array;
  /** Of each field of finished stays: whether it is read. */
  private readonly wanted: Uint8Array;
  private readonly places: Int32Array;
  private readonly picks: Int32Array | null;

  /** @param picks Numbers of the instants that are read, ascending; all if it is left out. */
  constructor(
    private readonly states: StateLog,
    private readonly stretches: Stretches,
    picks?: readonly number[],
  ) {
    this.picks = picks ? Int32Array.from(picks) : null;
    this.time_s = picks
      ? Float64Array.from(picks, (pick) => stretches.time_s[pick] ?? Number.NaN)
      : stretches.time_s;
    this.n = this.time_s.length;
    this.present = [...states.present];
    this.fields = Int32Array.from(this.present, RINGS.ofState);
    this.wanted = new Uint8Array(this.fields.length);
    this.places = new Int32Array(Math.max(0, ...this.present) + 1);
    for (const [k, number] of this.present.entries()) this.places[number] = (FIRST + k) * this.n;
    this.values = new Float64Array((FIRST + this.fields.length) * this.n);
    this.finished = this.values.subarray(FIRST * this.n);
  }

  /** Read a thread; false: it has no ledger within the stretch. */
  load(thread: Thread): boolean {
    const { states, stretches, moving, n, time_s } = this;
    if (n === 0) return false;
    const { slot, end_s } = thread;
    if (end_s === null || end_s >= (time_s[n - 1] ?? 0)) {
      const own = states.sinceBlock(thread);
      const { history } = states;
      const since = history.at(stretches, "last", slot, RINGS.since, own);
      if (since === history.at(stretches, "first", slot, RINGS.since, own)) {
        const state = history.at(stretches, "last", slot, RINGS.current, own);
        if (state >= 1 && state === history.at(stretches, "first", slot, RINGS.current, own)) {
          moving.length = 0;
          moving.push(state);
          this.steady = state;
          this.first = 0;
          return true;
        }
      }
    }
    this.wanted.fill(0);
    return this.read(thread);
  }

  /** The same, with `values` of all states, also of a thread that is steady. */
  loadAll(thread: Thread): boolean {
    this.wanted.fill(1);
    return this.read(thread);
  }

  /** Read the states that are wanted, those in which it is at an instant, and those that grew. */
  private read(thread: Thread): boolean {
    const { states, stretches, picks, values, moving, wanted, present, n } = this;
    const { slot } = thread;
    moving.length = 0;
    this.steady = 0;
    this.first = 0;
    const own = states.sinceBlock(thread);
    states.history.readFields(stretches, picks, slot, this.now, own, values);
    while (this.first < n && Number.isNaN(values[CURRENT * n + this.first] ?? Number.NaN)) {
      this.first++;
    }
    if (this.first === n) return false;
    for (let i = this.first; i < n; i++) {
      const place = this.places[values[CURRENT * n + i] ?? 0] ?? 0;
      if (place > 0) wanted[place / n - FIRST] = 1;
    }
    states.history.readFields(stretches, picks, slot, this.fields, own, this.finished, wanted);
    this.addStays(thread);
    for (let k = 0; k < present.length; k++) {
      if (wanted[k] === 0) continue;
      const place = (FIRST + k) * n;
      const begin = values[place + this.first] ?? 0;
      const end = values[place + n - 1] ?? 0;
      if (end !== begin || (this.first > 0 && end > 0)) moving.push(present[k] ?? 0);
    }
    return true;
  }

  /** Place in `values` of a state's first instant. */
  placeOf(number: number): number {
    return this.places[number] ?? 0;
  }

  /** Nanoseconds in a state up to an instant. */
  at(number: number, instant: number): number {
    return this.values[this.placeOf(number) + instant] ?? Number.NaN;
  }

  /** The state it was in at an instant, and since when, seconds since attach; after `loadAll`. */
  currentAt(instant: number): { readonly number: number; readonly since_s: number } {
    const { values, n } = this;
    const number = values[CURRENT * n + instant] ?? Number.NaN;
    return { number, since_s: (values[SINCE * n + instant] ?? Number.NaN) / 1e9 };
  }

  /**
   * Seconds since attach up to which the values of an instant add up; after `loadAll`. It is the
   * instant, or somewhat later: a row is read after the time of its frame, and then has what finished
   * in between.
   */
  heldAt(instant: number): number {
    const t_s = this.time_s[instant] ?? 0;
    const { number, since_s } = this.currentAt(instant);
    return number > 0 ? Math.max(t_s, since_s) : t_s;
  }

  /** Add the stays under way: the same as `timeInState` for each state and instant. */
  private addStays({ end_s }: Thread): void {
    const { values, time_s, places, n } = this;
    const end_ns = end_s === null ? Number.POSITIVE_INFINITY : 1e9 * end_s;
    for (let i = this.first; i < n; i++) {
      const t_ns = Math.min(1e9 * (time_s[i] ?? 0), end_ns);
      const stay_ns = t_ns - (values[SINCE * n + i] ?? 0);
      const place = places[values[CURRENT * n + i] ?? 0] ?? 0;
      // States that are not known here are ignored, and 0 is none.
      if (stay_ns > 0 && place > 0) values[place + i] = (values[place + i] ?? 0) + stay_ns;
    }
  }
}
