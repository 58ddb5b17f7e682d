/**
 * What current rates of all fields are measured against: the counters as they were one to two
 * seconds ago. Two copies take turns, so that the whole past need not be kept for every field.
 */

const SPAN_S = 1;

export class RateBase {
  /** Seconds since attach of the older copy; NaN while there is none. */
  time_s = Number.NaN;
  /** Counters then, laid out as the model's `latest`. */
  values = new Float64Array(0);
  private newerTime_s = Number.NaN;
  private newer = new Float64Array(0);

  /** Called after each frame. */
  note(now_s: number, latest: Float64Array): void {
    if (Number.isNaN(this.time_s)) {
      this.time_s = now_s;
      this.values = latest.slice();
      this.newerTime_s = now_s;
      this.newer = latest.slice();
    } else if (now_s - this.newerTime_s >= SPAN_S * (1 - 1e-6)) {
      this.time_s = this.newerTime_s;
      const spare = this.values;
      this.values = this.newer;
      this.newerTime_s = now_s;
      this.newer = spare.length === latest.length ? spare : new Float64Array(latest.length);
      this.newer.set(latest);
    }
  }

  /** A slot has another owner, which has no past. */
  clear(slot: number, width: number): void {
    for (const values of [this.values, this.newer]) {
      values.fill(Number.NaN, slot * width, (slot + 1) * width);
    }
  }

  /** A copy that stays as it is. */
  frozen(): RateBase {
    const copy = new RateBase();
    copy.time_s = this.time_s;
    copy.values = this.values.slice();
    return copy;
  }

  /** Units a second since the older copy; NaN: not enough data yet, or absent. */
  rate(now_s: number, latest: Float64Array, at: number): number {
    const elapsed = now_s - this.time_s;
    if (!(elapsed > 0)) return Number.NaN;
    return ((latest[at] ?? Number.NaN) - (this.values[at] ?? Number.NaN)) / elapsed;
  }
}
