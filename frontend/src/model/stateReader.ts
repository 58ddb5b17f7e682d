/** Time of one thread in each state at the instants of a stretch of time, read from the log. */

import type { Stretches } from "./history";
import { RINGS, type StateLog } from "./stateLog";
import { timeInState } from "./states";
import type { Thread } from "./threads";

/** Reads thread after thread. */
export class StateReader {
  /** The state in which the thread was at all instants and between them; 0: there were several. */
  steady = 0;
  /** Numbers of the states in which it may have been within the stretch. */
  readonly moving: number[] = [];
  /** First and last instant at which it is known; -1: at none. */
  first = -1;
  last = -1;
  /** By number of the state, Float64[n]: seconds since its ledger began; NaN where it is not known. */
  private readonly seconds: Float64Array[] = [];
  private readonly current: Float64Array;
  private readonly one = new Float64Array(1);
  private slot = 0;
  private own = 0;
  private readonly since: Float64Array;

  constructor(
    private readonly states: StateLog,
    readonly stretches: Stretches,
  ) {
    this.current = new Float64Array(stretches.n);
    this.since = new Float64Array(stretches.n);
  }

  /** Read a thread; false: it has no ledger within the stretch. */
  load(thread: Thread): boolean {
    const { states, stretches, moving } = this;
    const { n, time_s } = stretches;
    const { slot, end_s } = thread;
    const own = states.sinceBlock(thread);
    this.slot = slot;
    this.own = own;
    moving.length = 0;
    this.steady = 0;
    this.first = 0;
    this.last = n - 1;
    if (n === 0) return false;
    while (end_s !== null && this.last >= 0 && (time_s[this.last] ?? 0) > end_s) this.last--;
    const { history } = states;
    const at = (end: "first" | "last", ring: number) => history.at(stretches, end, slot, ring, own);
    if (this.last === n - 1 && at("first", RINGS.since) === at("last", RINGS.since)) {
      const state = at("first", RINGS.current);
      if (state >= 1 && state === at("last", RINGS.current)) {
        this.steady = state;
        moving.push(state);
        return true;
      }
    }
    history.read(stretches, slot, RINGS.current, own, this.current);
    history.read(stretches, slot, RINGS.since, own, this.since);
    while (this.first <= this.last && Number.isNaN(this.current[this.first] ?? Number.NaN)) {
      this.first++;
    }
    if (this.first > this.last) return false;
    for (const number of states.present) {
      const ring = RINGS.ofState(number);
      const stands = at("first", ring) === at("last", ring);
      if (stands && !this.isIn(number)) continue;
      moving.push(number);
      this.readState(slot, own, number);
    }
    return true;
  }

  /** Seconds in a state up to an instant, of a thread that is not steady. */
  at(number: number, instant: number): number {
    return this.seconds[number]?.[instant] ?? Number.NaN;
  }

  /** The state it was in at an instant, and since when, seconds since attach. */
  currentAt(instant: number): { readonly number: number; readonly since_s: number } {
    const number = this.valueAt(RINGS.current, instant);
    return { number, since_s: this.valueAt(RINGS.since, instant) / 1e9 };
  }

  /** Nanoseconds in any state up to an instant, of whatever thread. */
  nanosecondsAt(number: number, instant: number): number {
    const finished = this.valueAt(RINGS.ofState(number), instant);
    const { number: current, since_s } = this.currentAt(instant);
    const t_ns = 1e9 * (this.stretches.time_s[instant] ?? 0);
    return timeInState(finished, number, current, 1e9 * since_s, t_ns);
  }

  private valueAt(ring: number, instant: number): number {
    const { states, stretches, one } = this;
    states.history.readAt(stretches, Int32Array.of(instant), this.slot, ring, this.own, one);
    return one[0] ?? Number.NaN;
  }

  private isIn(number: number): boolean {
    for (let i = this.first; i <= this.last; i++) if (this.current[i] === number) return true;
    return false;
  }

  private readState(slot: number, own: number, number: number): void {
    const { states, stretches, current, since } = this;
    const { n, time_s } = stretches;
    let out = this.seconds[number];
    if (!out) {
      out = new Float64Array(n);
      this.seconds[number] = out;
    }
    states.history.read(stretches, slot, RINGS.ofState(number), own, out);
    for (let i = this.first; i <= this.last; i++) {
      const t_ns = 1e9 * (time_s[i] ?? 0);
      const finished = out[i] ?? 0;
      out[i] = timeInState(finished, number, current[i] ?? 0, since[i] ?? 0, t_ns) / 1e9;
    }
  }
}
