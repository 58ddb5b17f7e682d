/** Counters of the machine over time: package power and CPU utilisation. */

import type { MachineCounters, ProcessGauges } from "../wire/generated/models";
import { GaugeLog } from "./gaugeLog";
import { rateBetween } from "./rate";

/** Maximum number of readings kept: some five hours at one per second. */
const KEPT = 20_000;
/** Minimum averaging time of power, in seconds: CPU time counters move in ticks of 10 ms. */
export const MEAN_S = 1.5;

interface Reading {
  readonly t_s: number;
  /** Energy of all packages since attach, in joules; NaN if unknown. */
  readonly energy_j: number;
  /** CPU time of all programs since attach, in seconds; NaN if unknown. */
  readonly busy_s: number;
  /**
   * CPU time since attach that the hypervisor gave to other guests (steal), in seconds; NaN if
   * unknown.
   */
  readonly steal_s: number;
  readonly gaps: number;
}

/** Recent state of the machine. NaN if unknown, or without enough data yet. */
export interface MachineNow {
  readonly watts: number;
  /** CPU time of all programs on the machine, per second. */
  readonly busy_cores: number;
}

export class MachineLog {
  private readings: Reading[] = [];

  /** @param maxAge_s Minimum retention of readings, unless there are too many. */
  constructor(private readonly maxAge_s = Number.POSITIVE_INFINITY) {}

  /** Record a reading; frames repeat the last one until a new one arrives. */
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
    // Trimmed in batches, not per reading; the reading at the start of the retained span is kept.
    if (oldest_s < t_s - 2 * this.maxAge_s) {
      this.readings = this.readings.slice(Math.max(0, this.indexAt(t_s - this.maxAge_s)));
    }
    if (this.readings.length > 2 * KEPT) this.readings = this.readings.slice(-KEPT);
  }

  /**
   * Means over the last seconds up to a moment.
   * @param least_s Minimum averaging time.
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

  /** Energy of all packages from attach until a moment, in joules; NaN if unknown. */
  energyAt(now_s: number): number {
    return this.readings[this.indexAt(now_s)]?.energy_j ?? Number.NaN;
  }

  /** Whether the sums up to a moment lack some energy. */
  holesAt(now_s: number): boolean {
    return (this.readings[this.indexAt(now_s)]?.gaps ?? 0) > 0;
  }

  /**
   * Stolen CPUs (given to other guests by the hypervisor) per second within a span; NaN if unknown.
   */
  stealWithin(t0_s: number, t1_s: number): number {
    const before = this.readings[Math.max(0, this.indexAt(t0_s))];
    const after = this.readings[this.indexAt(t1_s)];
    if (!before || !after) return Number.NaN;
    return rateBetween(before.steal_s, after.steal_s, after.t_s - before.t_s);
  }

  /** Power at the ends of `points` equal parts of a span, in watts; NaN if unknown. */
  sampled(t0_s: number, t1_s: number, points: number): Float32Array {
    const out = new Float32Array(points).fill(Number.NaN);
    for (let p = 0; p < points; p++) {
      const t_s = t0_s + ((p + 1) * (t1_s - t0_s)) / points;
      // The reading at the end of the second that contains the moment; the newest one otherwise.
      const next = Math.min(this.indexAt(t_s - 1e-9) + 1, this.readings.length - 1);
      const [before, after] = [this.readings[next - 1], this.readings[next]];
      if (before && after) out[p] = wattsBetween(before, after);
    }
    return out;
  }

  /** Index of the last reading at or before a moment; -1 if none. */
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
  /** Limit in cores; NaN if none or unknown. */
  readonly limit: GaugeLog;
  /** Cumulative since attach; NaN without a limit. */
  readonly periods: GaugeLog;
  readonly throttled: GaugeLog;
  readonly throttled_us: GaugeLog;
  /** Current limits; NaN if none. Counts and times are cumulative since attach. */
  readonly memory_bytes: GaugeLog;
  readonly memory_hits: GaugeLog;
  readonly disk_bytes: GaugeLog;
  readonly disk_ios: GaugeLog;
  readonly reads_limited_us: GaugeLog;
  readonly writes_limited_us: GaugeLog;

  /** @param maxAge_s Retention of changes. */
  constructor(maxAge_s: number) {
    this.limit = new GaugeLog(maxAge_s);
    this.periods = new GaugeLog(maxAge_s);
    this.throttled = new GaugeLog(maxAge_s);
    this.throttled_us = new GaugeLog(maxAge_s);
    this.memory_bytes = new GaugeLog(maxAge_s);
    this.memory_hits = new GaugeLog(maxAge_s);
    this.disk_bytes = new GaugeLog(maxAge_s);
    this.disk_ios = new GaugeLog(maxAge_s);
    this.reads_limited_us = new GaugeLog(maxAge_s);
    this.writes_limited_us = new GaugeLog(maxAge_s);
  }

  /** Record the gauges of a frame. */
  note(t_s: number, gauges: ProcessGauges): void {
    const { cpu_limit, cgroup_periods, cgroup_throttled, cgroup_throttled_us } = gauges;
    this.limit.note(t_s, cpu_limit ?? Number.NaN);
    this.periods.note(t_s, cgroup_periods ?? Number.NaN);
    this.throttled.note(t_s, cgroup_throttled ?? Number.NaN);
    this.throttled_us.note(t_s, cgroup_throttled_us ?? Number.NaN);
    const { limits } = gauges;
    this.memory_bytes.note(t_s, limits?.memory_bytes ?? Number.NaN);
    this.memory_hits.note(t_s, limits?.memory_hits ?? Number.NaN);
    this.disk_bytes.note(t_s, limits?.disk_bytes ?? Number.NaN);
    this.disk_ios.note(t_s, limits?.disk_ios ?? Number.NaN);
    this.reads_limited_us.note(t_s, limits?.reads_limited_us ?? Number.NaN);
    this.writes_limited_us.note(t_s, limits?.writes_limited_us ?? Number.NaN);
  }
}
