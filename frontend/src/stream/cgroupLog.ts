/** The CPU limit of a target's control group over time, and what it did. */

import type { ProcessGauges } from "../wire/generated/models";
import { GaugeLog } from "./gaugeLog";

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
