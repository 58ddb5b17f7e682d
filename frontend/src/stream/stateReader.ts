/** Time of one thread in each state at the instants of a stretch of time, read from the log. */

import type { Stretches } from "./history";
import { RINGS, type StateLog } from "./stateLog";
import type { Thread } from "./threads";

/** Values of an instant before those of the states. */
const CURRENT = 0;
const SINCE = 1;
const FIRST = 2;

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
