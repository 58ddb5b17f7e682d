/** Least and greatest rates of threads and of the process between the instants of a run. */

import type { ExtremesTable } from "../wire/runFrames";
import type { RingField } from "./chartSpecs";
import { threadKey } from "./threads";
import type { ThreadKey } from "./viewRequest";

/** Key of the process as a whole. */
export const PROCESS_KEY: ThreadKey = threadKey(0, 0);
/** Averaging time of the rates, in seconds: the backend's SMOOTHING_NS. */
export const OVER_S = 0.5;

export class RateExtremes {
  /** Entry range of each thread: [from, to). */
  private readonly entries = new Map<ThreadKey, readonly [number, number]>();

  constructor(private readonly table: ExtremesTable) {
    const { tid, start_ns } = table;
    let begin = 0;
    for (let i = 1; i <= tid.length; i++) {
      if (i < tid.length && tid[i] === tid[begin] && start_ns[i] === start_ns[begin]) continue;
      this.entries.set(threadKey(tid[begin] ?? 0, start_ns[begin] ?? 0), [begin, i]);
      begin = i;
    }
  }

  /** Longest time span of an entry, in seconds. */
  get step_s(): number {
    const { from_s, to_s } = this.table;
    return from_s.reduce((most, from, i) => Math.max(most, (to_s[i] ?? 0) - from), 0);
  }

  /**
   * Write the extremes of a thread's rate for some moments.
   * @param time_s Moments, ascending; each covers the time since the previous one.
   * @param scale Factor from the field's unit to the shown one.
   * @param low Receives the least rate of each moment from `at` on; NaN if unknown.
   * @param high The same with the greatest.
   */
  read(
    key: ThreadKey,
    field: RingField,
    time_s: Float64Array,
    scale: number,
    low: Float64Array,
    high: Float64Array,
    at: number,
  ): void {
    low.fill(Number.NaN, at, at + time_s.length);
    high.fill(Number.NaN, at, at + time_s.length);
    const least = this.table.rates.get(`${field}_least`);
    const greatest = this.table.rates.get(`${field}_greatest`);
    const entry = this.entries.get(key);
    if (!least || !greatest || !entry) return;
    const { from_s, to_s } = this.table;
    let [begin] = entry;
    const [, end] = entry;
    for (let c = 1; c < time_s.length; c++) {
      const since_s = time_s[c - 1] ?? 0;
      const until_s = time_s[c] ?? 0;
      while (begin < end && (to_s[begin] ?? 0) <= since_s) begin++;
      for (let i = begin; i < end && (from_s[i] ?? 0) < until_s; i++) {
        const below = (least[i] ?? Number.NaN) * scale;
        const above = (greatest[i] ?? Number.NaN) * scale;
        if (Number.isNaN(below)) continue;
        if (!((low[at + c] ?? Number.NaN) <= below)) low[at + c] = below;
        if (!((high[at + c] ?? Number.NaN) >= above)) high[at + c] = above;
      }
    }
  }
}
