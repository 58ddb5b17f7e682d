/** The panels of the page in their usual order, its charts, and why one is not there. */

import type { ChartId } from "../../stream/viewRequest";
import type { Target } from "../../wire/generated/models";

/**
 * By the questions that they answer: what every thread does, who uses the CPU, where the time goes,
 * bytes, switches, what lies behind it, and the numbers.
 */
export const PANEL_ORDER = [
  ...(["map", "processes"] as const),
  ...(["cpu", "cpu_total", "gomaxprocs", "cores"] as const),
  ...(["times", "wait", "blkio"] as const),
  ...(["network", "disk", "network_calls", "switches"] as const),
  ...(["pools", "wakes", "locks", "takers", "calls"] as const),
  ...(["events", "threads"] as const),
] as const;

export type PanelId = (typeof PANEL_ORDER)[number];

/** One chart: its heading, and what it says in small. */
export interface ChartInfo {
  readonly chart: Extract<ChartId, PanelId>;
  readonly title: string;
  readonly unit: string;
  /** Field of which the target must have at least one; none for process gauges. */
  readonly fields: readonly string[];
}

export const CHARTS: readonly ChartInfo[] = [
  { chart: "cpu", title: "CPU", unit: "cores", fields: ["cpu_run_ns"] },
  { chart: "cpu_total", title: "Cumulative CPU", unit: "seconds", fields: ["cpu_run_ns"] },
  { chart: "wait", title: "Run-queue delay", unit: "share of time", fields: ["cpu_delay_ns"] },
  {
    chart: "switches",
    title: "Context switches",
    unit: "per second",
    fields: ["voluntary_switches", "involuntary_switches"],
  },
  {
    chart: "disk",
    title: "Cumulative disk bytes",
    unit: "bytes",
    fields: ["disk_read_bytes", "disk_write_bytes"],
  },
  {
    chart: "network",
    title: "Cumulative network bytes",
    unit: "socket payload, not wire bytes",
    fields: ["net_read_bytes", "net_write_bytes"],
  },
  {
    chart: "network_calls",
    title: "Network calls",
    unit: "per second",
    fields: ["net_read_calls", "net_write_calls"],
  },
  { chart: "blkio", title: "Block I/O delay", unit: "share of time", fields: ["blkio_delay_ns"] },
  { chart: "gomaxprocs", title: "GOMAXPROCS", unit: "current size", fields: [] },
];

const HAVE_SIZE = "A program with an agent has a pool whose size is shown here (docs/agents.md).";

/** Why a target cannot have a chart, in words; null if it can. */
export function chartAbsentReason(panel: ChartInfo, target: Target): string | null {
  if (panel.chart === "gomaxprocs") {
    // Whether one of a group's programs tells it shows only while it runs.
    const absent = target.gomaxprocs === null && !target.group;
    return absent ? `${target.gomaxprocs_reason}. ${HAVE_SIZE}` : null;
  }
  if (panel.fields.some((field) => target.fields.includes(field))) {
    return null;
  }
  const absent = target.absent.find(({ field }) => panel.fields.includes(field));
  return absent?.reason ?? "The data source of this target does not provide it.";
}
