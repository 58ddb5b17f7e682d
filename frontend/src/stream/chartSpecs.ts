/** Content of each chart: its fields, as slope or as cumulative value, and the unit. */

import type { ChartId } from "./viewRequest";
import type { ShownUnit } from "./views";

/** Fields with a full recent past for every thread, so that charts can show them. */
export const RING_FIELDS = [
  "cpu_run_ns",
  "cpu_delay_ns",
  "voluntary_switches",
  "involuntary_switches",
  "disk_read_bytes",
  "disk_write_bytes",
  "net_read_bytes",
  "net_write_bytes",
  "net_read_calls",
  "net_write_calls",
  "blkio_delay_ns",
  "swapin_delay_ns",
  "thrashing_delay_ns",
  "reclaim_delay_ns",
  "compact_delay_ns",
  "wpcopy_delay_ns",
  "irq_delay_ns",
  "system_cpu_us",
  "minor_faults",
] as const;

export type RingField = (typeof RING_FIELDS)[number];

export interface ChartSpec {
  /** slope: units per second; total: cumulative. */
  readonly mode: "slope" | "total";
  readonly fields: readonly RingField[];
  /** Names of the fields if there are two. */
  readonly variants: readonly string[];
  /** Factor from the field's unit to the shown one. */
  readonly scale: number;
  readonly unit: ShownUnit;
}

const NS = 1e-9;

/**
 * Charts whose lines are counters. Sizes are a gauge, operations come with decisions, and times are
 * derived from several counters.
 */
export type CounterChartId = Exclude<ChartId, "gomaxprocs" | "ops" | "times">;

/** Whether a chart's lines are counters. */
export function isCounterChart(chart: ChartId): chart is CounterChartId {
  return Object.hasOwn(CHART_SPECS, chart);
}

/** Specifications of all charts whose lines are counters. */
export const CHART_SPECS: Readonly<Record<CounterChartId, ChartSpec>> = {
  cpu: { mode: "slope", fields: ["cpu_run_ns"], variants: [], scale: NS, unit: "cores" },
  cpu_total: { mode: "total", fields: ["cpu_run_ns"], variants: [], scale: NS, unit: "s" },
  disk: {
    mode: "total",
    fields: ["disk_read_bytes", "disk_write_bytes"],
    variants: ["read", "written"],
    scale: 1,
    unit: "bytes",
  },
  network: {
    mode: "total",
    fields: ["net_read_bytes", "net_write_bytes"],
    variants: ["received", "sent"],
    scale: 1,
    unit: "bytes",
  },
  network_calls: {
    mode: "slope",
    fields: ["net_read_calls", "net_write_calls"],
    variants: ["received", "sent"],
    scale: 1,
    unit: "1/s",
  },
  switches: {
    mode: "slope",
    fields: ["voluntary_switches", "involuntary_switches"],
    variants: ["voluntary", "involuntary"],
    scale: 1,
    unit: "1/s",
  },
  wait: { mode: "slope", fields: ["cpu_delay_ns"], variants: [], scale: NS, unit: "share" },
  blkio: { mode: "slope", fields: ["blkio_delay_ns"], variants: [], scale: NS, unit: "share" },
};
