/**
 * The ledgers of threads: how long each was in each state, and the recent past of it. Slots are those
 * of threads.ts.
 */

import { History } from "./history";
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
