/** Counters of the machine over time: power of its packages, and how busy its CPUs were. */

import type { MachineCounters, ProcessGauges } from "../wire/generated/models";
import { GaugeLog } from "./gaugeLog";
import { rateBetween } from "./rate";

/** Readings come about once a second: some five hours. */
const KEPT = 20_000;
/** Power is a mean over at least this long: the counters of CPU time move in ticks of 10 ms. */
export const MEAN_S = 1.5;

interface Reading {
  readonly t_s: number;
  /** Energy of all packages since attach, joules; NaN if it is not known. */
  readonly energy_j: number;
  /** CPU time of all that ran since attach, seconds; NaN if it is not known. */
  readonly busy_s: number;
  /** CPU time since attach that the hypervisor gave to others, seconds; NaN if it is not known. */
  readonly steal_s: number;
  readonly gaps: number;
}

/** What the machine did lately. NaN = not known, or not enough data yet. */
export interface MachineNow {
  readonly watts: number;
  /** CPU time of all that ran on the machine per second. */
  readonly busy_cores: number;
}

export class MachineLog {
  private readings: Reading[] = [];

  /** @param maxAge_s Readings are kept for so long at least, if there are not too many of them. */
  constructor(private readonly maxAge_s = Number.POSITIVE_INFINITY) {}

  /** Frames repeat a reading until there is a new one. */
  note(counters: MachineCounters): void {
    const t_s = counters.time_ns / 1e9;
    const last = this.readings.at(-1);
    if (last && t_s <= last.t_s) return;
    this.readings.push({
      t_s,
      energy_j: (counters.package_uj ?? Number.NaN) / 1e6,
      busy_s: (counters.cpu_busy_us ?? Number.NaN) / 1e6,
      steal_s: (counters.cpu_steal_us ?? Number.NaN) / 1e6,
      gaps: counters.gaps,
    });
    const oldest_s = this.readings[0]?.t_s ?? t_s;
    // Cut now and then, not at every reading; with the reading that begins the span kept.
    if (oldest_s < t_s - 2 * this.maxAge_s) {
      this.readings = this.readings.slice(Math.max(0, this.indexAt(t_s - this.maxAge_s)));
    }
    if (this.readings.length > 2 * KEPT) this.readings = this.readings.slice(-KEPT);
  }

  /**
   * Means over the last seconds up to a moment.
   *
   * @param least_s Over at least this long.
   */
  at(now_s: number, least_s = MEAN_S): MachineNow {
    const last = this.indexAt(now_s);
    const newest = this.readings[last];
    let from = last - 1;
    while (from > 0 && (newest?.t_s ?? 0) - (this.readings[from]?.t_s ?? 0) < least_s) from--;
    const before = this.readings[from];
    if (!newest || !before) return { watts: Number.NaN, busy_cores: Number.NaN };
    return {
      watts: wattsBetween(before, newest),
      busy_cores: rateBetween(before.busy_s, newest.busy_s, newest.t_s - before.t_s),
    };
  }

  /** Energy of all packages from attach until a moment, joules; NaN if it is not known. */
  energyAt(now_s: number): number {
    return this.readings[this.indexAt(now_s)]?.energy_j ?? Number.NaN;
  }

  /** Whether energy is missing in the sums up to a moment. */
  holesAt(now_s: number): boolean {
    return (this.readings[this.indexAt(now_s)]?.gaps ?? 0) > 0;
  }

  /** CPUs a second that the hypervisor gave to others within a span; NaN if it is not known. */
  stealWithin(t0_s: number, t1_s: number): number {
    const before = this.readings[Math.max(0, this.indexAt(t0_s))];
    const after = this.readings[this.indexAt(t1_s)];
    if (!before || !after) return Number.NaN;
    return rateBetween(before.steal_s, after.steal_s, after.t_s - before.t_s);
  }

  /** Power at the ends of `points` equal parts of a span, watts; NaN where it is not known. */
  sampled(t0_s: number, t1_s: number, points: number): Float32Array {
    const out = new Float32Array(points).fill(Number.NaN);
    for (let p = 0; p < points; p++) {
      const t_s = t0_s + ((p + 1) * (t1_s - t0_s)) / points;
      // The reading that ends the second in which the moment lies; the newest one holds on.
      const next = Math.min(this.indexAt(t_s - 1e-9) + 1, this.readings.length - 1);
      const [before, after] = [this.readings[next - 1], this.readings[next]];
      if (before && after) out[p] = wattsBetween(before, after);
    }
    return out;
  }

  /** Place of the last reading at a moment or before it; -1 if there is none. */
  private indexAt(t_s: number): number {
    let low = 0;
    let high = this.readings.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.readings[middle]?.t_s ?? 0) <= t_s) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

function wattsBetween(before: Reading, after: Reading): number {
  if (after.gaps !== before.gaps) return Number.NaN;
  return rateBetween(before.energy_j, after.energy_j, after.t_s - before.t_s);
}

export class CgroupLog {
  /** Cores; NaN: none, or not known. */
  readonly limit: GaugeLog;
  /** Cumulative since attach; NaN without a limit. */
  readonly periods: GaugeLog;
  readonly throttled: GaugeLog;
  readonly throttled_us: GaugeLog;

  /** @param maxAge_s How long changes are kept. */
  constructor(maxAge_s: number) {
    this.limit = new GaugeLog(maxAge_s);
    this.periods = new GaugeLog(maxAge_s);
    this.throttled = new GaugeLog(maxAge_s);
    this.throttled_us = new GaugeLog(maxAge_s);
  }

  /** Gauges of a frame. */
  note(t_s: number, gauges: ProcessGauges): void {
    const { cpu_limit, cgroup_periods, cgroup_throttled, cgroup_throttled_us } = gauges;
    this.limit.note(t_s, cpu_limit ?? Number.NaN);
    this.periods.note(t_s, cgroup_periods ?? Number.NaN);
    this.throttled.note(t_s, cgroup_throttled ?? Number.NaN);
    this.throttled_us.note(t_s, cgroup_throttled_us ?? Number.NaN);
  }
}
