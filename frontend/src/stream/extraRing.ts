/**
 * The recent past of one more counter, for all threads: of the field that the thread map shows, if
 * it is none of those whose past is always kept. Kept from when it was first asked for.
 */

import { History } from "./history";

/** A third of what the nine fields that are always kept may take. */
const MAX_BYTES = 32 * 1024 * 1024;

export class ExtraRing {
  readonly history: History;
  /** First instant it has, seconds since attach; NaN while there is none. */
  since_s = Number.NaN;
  private latest = new Float64Array(0);

  /**
   * @param field Its name, and its column in the model's `latest`.
   * @param width Columns a slot has there.
   * @param maxAge_s How long instants are kept.
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

  /** Begin an instant with what all slots hold. */
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

  /** There are more slots now. */
  grow(slots: number): void {
    this.history.grow(slots);
  }

  /** Forget all instants. */
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
