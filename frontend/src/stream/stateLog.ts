/**
 * State ledgers of threads: time in each state, with the recent past. Slots are those of
 * threads.ts.
 */

import { History, type Stretches } from "./history";
import { SINCE_FIELD, STATE_FIELD, STATES, THROTTLED_FIELD } from "./states";
import type { Thread } from "./threads";

/** Values per slot: current state, its start, and the time of finished stays in each state. */
const CURRENT = 0;
const SINCE = 1;
const FIRST = 2;
const WIDTH = FIRST + STATES.length;

const MAX_BYTES = 96 * 1024 * 1024;
/** Maximum memory of the current block, if eight values of each slot change constantly. */
const BLOCK_BYTES = MAX_BYTES / 12;
const MOVING = 8;
/** Minimum instants per block. Each block costs a copy of all values. */
const MIN_INSTANTS = 24;
const MAX_INSTANTS = 256;

/** Index of each ledger field within a slot. */
const PLACES = new Map<string, number>([
  [STATE_FIELD, CURRENT],
  [SINCE_FIELD, SINCE],
  ...STATES.map(({ field, number }): [string, number] => [field, placeOf(number)]),
]);

function placeOf(number: number): number {
  return FIRST + number - 1;
}

/** Fields of the history. */
export const RINGS = { current: CURRENT, since: SINCE, ofState: placeOf } as const;

export class StateLog {
  readonly history: History;
  /** True if the target's frames have ledgers. */
  there = false;
  /** True if they say who is throttled: otherwise such time is waiting for a CPU. */
  throttling = false;
  /** Numbers of states that any thread has been in. */
  readonly present: number[] = [];
  /** Float64[slots * WIDTH]: newest values; NaN without a ledger. */
  private latest = new Float64Array(0);
  /** Float64[slots]: first context switch of a thread, in seconds since attach; NaN if none yet. */
  private switched = new Float64Array(0);
  /** Int32[slots]: block of the history in which a slot got its current thread. */
  private owned = new Int32Array(0);
  private capacity = 0;
  private order: readonly number[] = [];
  private orderFor: readonly string[] | null = null;

  /** @param maxAge_s Retention of instants. */
  constructor(maxAge_s: number) {
    this.history = new History(WIDTH, 1, MAX_BYTES, maxAge_s);
  }

  /** Index within a slot of each frame column; -1 for columns that are not ledger fields. */
  placesOf(fields: readonly string[]): readonly number[] {
    const same = this.orderFor?.length === fields.length;
    if (!same || this.orderFor?.some((field, i) => field !== fields[i])) {
      this.order = fields.map((field) => PLACES.get(field) ?? -1);
      this.orderFor = fields;
      this.there ||= fields.includes(STATE_FIELD);
      this.throttling ||= fields.includes(THROTTLED_FIELD);
    }
    return this.order;
  }

  /** Begin an instant, given the number of threads. */
  begin(t_s: number, threads: number): void {
    if (!this.there) return;
    const each = Math.max(1, this.capacity, threads) * MOVING * 8;
    const instants = Math.round(BLOCK_BYTES / each);
    this.history.begin(t_s, this.latest, Math.min(MAX_INSTANTS, Math.max(MIN_INSTANTS, instants)));
  }

  /** Drop the past; history restarts with the coming instant. */
  forgetPast(): void {
    this.history.restart();
  }

  /** First block in which a slot belongs to its thread. */
  sinceBlock({ slot }: Thread): number {
    return this.owned[slot] ?? 0;
  }

  /** Slot reused by another thread. */
  clear({ slot, start_ns }: Thread): void {
    if (!this.there) return;
    this.ensure(slot + 1);
    this.latest.fill(Number.NaN, slot * WIDTH, (slot + 1) * WIDTH);
    this.history.clear(slot);
    this.owned[slot] = this.history.blockId;
    // Only threads older than the attach have an initial state from /proc.
    this.switched[slot] = start_ns < 0 ? Number.NaN : 0;
  }

  /** Set a value of a thread; NaN leaves the value unchanged. */
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

  /** Set the values of an exit record: no stay is in progress. */
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

  /** Current state of a thread, and its start in seconds since attach; null without a ledger. */
  currentOf({ slot }: Thread): { readonly number: number; readonly since_s: number } | null {
    const number = this.latest[slot * WIDTH + CURRENT] ?? Number.NaN;
    if (Number.isNaN(number)) return null;
    return { number, since_s: (this.latest[slot * WIDTH + SINCE] ?? 0) / 1e9 };
  }

  /** Time of finished stays in a state, ns. */
  finishedOf({ slot }: Thread, number: number): number {
    return this.latest[slot * WIDTH + placeOf(number)] ?? Number.NaN;
  }

  /**
   * End of the time since attach without a context switch, during which the state is from /proc.
   */
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

/** Reads ledgers, one thread at a time. */
export class StateReader {
  /** Times of the instants, in seconds since attach, and their number. */
  readonly time_s: Float64Array;
  readonly n: number;
  /** The thread's only state at and between all instants; 0 if several. */
  steady = 0;
  /** Numbers of the thread's states within the span. */
  readonly moving: number[] = [];
  /** First instant with known values. */
  first = 0;
  /**
   * Float64[(2 + states) * n]: nanoseconds in each state since the ledger began, n values from
   * `placeOf` on; NaN if unknown. Constant after the thread's end. States missing in `moving` are
   * filled by `loadAll` only.
   */
  readonly values: Float64Array;
  private readonly present: readonly number[];
  /** History fields of the state at an instant and of finished stays; destination of the latter. */
  private readonly now = Int32Array.of(RINGS.current, RINGS.since);
  private readonly fields: Int32Array;
  private readonly finished: Float64Array;
  /** Whether to read each field of finished stays. */
  private readonly wanted: Uint8Array;
  private readonly places: Int32Array;
  private readonly picks: Int32Array | null;

  /** @param picks Indices of the instants to read, ascending; all if omitted. */
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

  /** Read a thread. Return false without a ledger within the span. */
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

  /** `load` with `values` of all states, also for a steady thread. */
  loadAll(thread: Thread): boolean {
    this.wanted.fill(1);
    return this.read(thread);
  }

  /** Read wanted states, states at any instant, and states that grew. */
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

  /** Index in `values` of a state's first instant. */
  placeOf(number: number): number {
    return this.places[number] ?? 0;
  }

  /** Nanoseconds in a state up to an instant. */
  at(number: number, instant: number): number {
    return this.values[this.placeOf(number) + instant] ?? Number.NaN;
  }

  /** The state at an instant, and its start in seconds since attach; requires `loadAll`. */
  currentAt(instant: number): { readonly number: number; readonly since_s: number } {
    const { values, n } = this;
    const number = values[CURRENT * n + instant] ?? Number.NaN;
    return { number, since_s: (values[SINCE * n + instant] ?? Number.NaN) / 1e9 };
  }

  /**
   * Time up to which an instant's values add up, in seconds since attach; requires `loadAll`. It is
   * the instant or somewhat later: a row read after its frame's time contains later stays.
   */
  heldAt(instant: number): number {
    const t_s = this.time_s[instant] ?? 0;
    const { number, since_s } = this.currentAt(instant);
    return number > 0 ? Math.max(t_s, since_s) : t_s;
  }

  /** Add the stays in progress: equal to `timeInState` for each state and instant. */
  private addStays({ end_s }: Thread): void {
    const { values, time_s, places, n } = this;
    const end_ns = end_s === null ? Number.POSITIVE_INFINITY : 1e9 * end_s;
    for (let i = this.first; i < n; i++) {
      const t_ns = Math.min(1e9 * (time_s[i] ?? 0), end_ns);
      const stay_ns = t_ns - (values[SINCE * n + i] ?? 0);
      const place = places[values[CURRENT * n + i] ?? 0] ?? 0;
      // Unknown states are ignored, and 0 is none.
      if (stay_ns > 0 && place > 0) values[place + i] = (values[place + i] ?? 0) + stay_ns;
    }
  }
}
