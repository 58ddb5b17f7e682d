/** Fills the thread map with states: the dominant state of each row and column. */

import { isIdle } from "./breakdown";
import { type Pieces, Presence } from "./mapColumns";
import type { MapLayout } from "./mapLayout";
import { type MapView, NO_FIELD } from "./mapPicture";
import { type WaitShares, waitShares } from "./parked";
import { StateReader } from "./stateLog";
import { CELL_STATES, KINDS_OF_STATES, kindOfState, packCell, STATES } from "./states";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";

const IDLE: readonly boolean[] = [
  false,
  ...STATES.map(({ idle }) => idle),
  ...KINDS_OF_STATES.map(({ kind }) => isIdle(kind)),
];

/** End of a live thread. */
const END_S = Number.POSITIVE_INFINITY;

export class StateFiller {
  private readonly reader: StateReader;
  /** Seconds per column by state number, summed over the row's threads. */
  private readonly sums: readonly Float64Array[];
  /** Seconds per column of one thread: in one state, in all states, and at work. */
  private readonly own: Float64Array;
  private readonly all: Float64Array;
  private readonly work: Float64Array;
  private readonly touched = new Set<number>();
  /** Per column: the most seconds of work by one thread, and its number in the row. */
  private readonly most: Float64Array;
  private readonly number: Uint16Array;
  /** The row has several threads, concurrent or consecutive. */
  private shared = false;
  /** Per column: threads without a ledger, threads with one, and of these the unswitched. */
  private readonly lacking: Uint16Array;
  private readonly having: Uint16Array;
  private readonly unswitched: Uint16Array;
  /** Sampled part of each column, in seconds. */
  private readonly covered: Float64Array;
  private readonly shares: (tid: number) => WaitShares;
  private readonly presence = new Presence();

  constructor(
    private readonly model: TargetModel,
    private readonly pieces: Pieces,
    private readonly layout: MapLayout,
    private readonly view: MapView,
  ) {
    const { columns, stretches, perCovered } = pieces;
    this.shares = waitShares(model);
    this.reader = new StateReader(model.states, stretches);
    this.sums = Array.from({ length: CELL_STATES }, () => new Float64Array(columns));
    this.own = new Float64Array(columns);
    this.all = new Float64Array(columns);
    this.work = new Float64Array(columns);
    this.most = new Float64Array(columns);
    this.number = new Uint16Array(columns);
    this.lacking = new Uint16Array(columns);
    this.having = new Uint16Array(columns);
    this.unswitched = new Uint16Array(columns);
    this.covered = Float64Array.from(perCovered, (per) => (Number.isNaN(per) ? 0 : 1 / per));
  }

  fillRow(order: readonly Thread[], row: number): void {
    const { layout, touched, sums } = this;
    const first = layout.first[row] ?? 0;
    const end = layout.first[row + 1] ?? first;
    for (const number of touched) sums[number]?.fill(0);
    touched.clear();
    this.most.fill(-1);
    for (const counts of [this.lacking, this.having, this.unswitched]) counts.fill(0);
    const gone = layout.gone[row] ?? 0;
    this.number.fill(gone);
    this.shared = end - first > 1;
    for (let place = first; place < end; place++) {
      const thread = order[place];
      if (thread) this.add(thread, place - first + gone);
    }
    this.write(row);
  }

  /** Add a thread's time to the row's. */
  private add(thread: Thread, numbered: number): void {
    const { reader, model, touched, work, shared } = this;
    if (!reader.load(thread)) {
      this.mark(thread, numbered);
      return;
    }
    const fresh = thread.start_ns / 1e9 >= model.since_s;
    this.all.fill(0);
    if (shared) work.fill(0);
    for (const number of reader.moving) {
      const own = reader.steady > 0 ? this.covered : this.spread(thread, number, fresh);
      const kind = kindOfState(number);
      const share = kind ? this.shares(thread.tid)[kind.kind] : 0;
      if (kind && share > 0) {
        touched.add(kind.number);
        addTo(this.sums[kind.number], own, share);
        if (shared && !IDLE[kind.number]) addTo(work, own, share);
      }
      touched.add(number);
      addTo(this.sums[number], own, 1 - share);
      addTo(this.all, own, 1);
      if (shared && !IDLE[number]) addTo(work, own, 1 - share);
    }
    this.count(thread, numbered);
  }

  /**
   * Count a thread's presence, the part known only from /proc, and whether it worked the most so
   * far.
   */
  private count(thread: Thread, numbered: number): void {
    const { all, work, most, having, unswitched, shared } = this;
    const { columns, from, bin_s } = this.pieces;
    const until_s = this.model.states.unswitchedUntil(thread);
    for (let k = 0; k < columns; k++) {
      if ((all[k] ?? 0) === 0) continue;
      having[k] = (having[k] ?? 0) + 1;
      if ((from + k + 1) * bin_s <= until_s) unswitched[k] = (unswitched[k] ?? 0) + 1;
      if (shared && (work[k] ?? 0) > (most[k] ?? 0)) {
        most[k] = work[k] ?? 0;
        this.number[k] = numbered;
      }
    }
  }

  /** Distribute a thread's time in a state among the columns of its presence. */
  private spread(thread: Thread, number: number, fresh: boolean): Float64Array {
    const { reader, pieces, own, presence } = this;
    const { count, sample, column, seconds, begin_s, stretches } = pieces;
    const { time_s, n } = stretches;
    const { values, first } = reader;
    const { from_s, until_s } = thread;
    if (first === 0 && from_s <= (time_s[0] ?? 0) && (until_s ?? END_S) >= (time_s[n - 1] ?? 0)) {
      return this.spreadAll(number);
    }
    const place = reader.placeOf(number);
    own.fill(0);
    let previous = -1;
    let rate = 0;
    for (let p = 0; p < count; p++) {
      const i = sample[p] ?? 0;
      if (i !== previous) {
        previous = i;
        rate = 0;
        if (i >= first) {
          const before = i > first ? (values[place + i - 1] ?? 0) : fresh ? 0 : Number.NaN;
          const grown = (values[place + i] ?? 0) - before;
          // Later settlement may lower a column by some microseconds.
          if (grown > 0 && presence.within(thread, time_s[i - 1] ?? 0, time_s[i] ?? 0)) {
            rate = grown / 1e9 / (presence.to_s - presence.from_s);
          }
        }
      }
      if (rate > 0) {
        const part = presence.partOf(begin_s[p] ?? 0, seconds[p] ?? 0);
        const k = column[p] ?? 0;
        if (part > 0) own[k] = (own[k] ?? 0) + rate * part;
      }
    }
    return own;
  }

  /** `spread` for a thread that was present throughout. */
  private spreadAll(number: number): Float64Array {
    const { reader, pieces, own } = this;
    const { count, sample, column, shares } = pieces;
    const { values } = reader;
    const place = reader.placeOf(number);
    own.fill(0);
    for (let p = 0; p < count; p++) {
      const i = place + (sample[p] ?? 0);
      const grown = (values[i] ?? 0) - (values[i - 1] ?? 0);
      // Later settlement may lower a column by some microseconds.
      if (grown <= 0) continue;
      const k = column[p] ?? 0;
      own[k] = (own[k] ?? 0) + (grown / 1e9) * (shares[p] ?? 0);
    }
    return own;
  }

  private mark({ from_s, until_s }: Thread, numbered: number): void {
    const { lacking, most } = this;
    const { from, columns, bin_s } = this.pieces;
    const end_s = until_s ?? Number.POSITIVE_INFINITY;
    for (let k = 0; k < columns; k++) {
      const there = (from + k + 1) * bin_s > from_s && (from + k) * bin_s <= end_s;
      if (!there) continue;
      lacking[k] = (lacking[k] ?? 0) + 1;
      if ((most[k] ?? 0) < 0) this.number[k] = numbered;
    }
  }

  private write(row: number): void {
    const { sums, view } = this;
    const { rows } = this.layout;
    const touched = [...this.touched];
    for (let k = 0; k < this.pieces.columns; k++) {
      const at = k * rows + row;
      view.highest[at] = this.number[k] ?? 0;
      let total = 0;
      // The three dominant states.
      let [a, b, c] = [0, 0, 0];
      let [inA, inB, inC] = [0, 0, 0];
      for (const number of touched) {
        const seconds = sums[number]?.[k] ?? 0;
        if (seconds === 0) continue;
        total += seconds;
        if (seconds > inA) {
          [c, inC] = [b, inB];
          [b, inB] = [a, inA];
          [a, inA] = [number, seconds];
        } else if (seconds > inB) {
          [c, inC] = [b, inB];
          [b, inB] = [number, seconds];
        } else if (seconds > inC) [c, inC] = [number, seconds];
      }
      if (total === 0) {
        view.values[at] = (this.lacking[k] ?? 0) > 0 ? NO_FIELD : Number.NaN;
        continue;
      }
      view.values[at] = a;
      view.shares[at] = packCell({
        shares: [inA / total, inB / total, inC / total],
        second: b,
        third: c,
        unswitched: this.unswitched[k] === this.having[k],
      });
    }
  }
}

function addTo(sums: Float64Array | undefined, values: Float64Array, factor: number): void {
  if (!sums) return;
  for (let k = 0; k < sums.length; k++) sums[k] = (sums[k] ?? 0) + factor * (values[k] ?? 0);
}
