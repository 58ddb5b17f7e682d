/** The panels of the page by tab, its charts, and the reasons for missing ones. */

import type { ChartId } from "../../stream/viewRequest";
import type { Target } from "../../wire/generated/models";

/** Panels by tab, in default order; the first tab answers why a program is slow. */
export const TABS = [
  {
    id: "summary",
    title: "Summary",
    panels: ["times", "map", "waiting", "goroutines", "processes"],
  },
  { id: "cpu", title: "CPU", panels: ["cpu", "cpu_total", "wait", "switches"] },
  { id: "network", title: "Network", panels: ["network", "network_calls"] },
  { id: "disk", title: "Disk", panels: ["disk", "blkio"] },
  { id: "pools", title: "Pools", panels: ["gomaxprocs", "cores", "pools"] },
  { id: "wakes", title: "Wake-ups", panels: ["wakes", "calls"] },
  { id: "stacks", title: "Stacks", panels: ["stacks"] },
  { id: "events", title: "Events", panels: ["events"] },
  { id: "threads", title: "Threads", panels: ["threads"] },
] as const;

/** "all": every panel, in the user's order. */
export type TabId = (typeof TABS)[number]["id"] | "all";

export type PanelId = (typeof TABS)[number]["panels"][number];

/** All panels in default order. */
export const PANEL_ORDER: readonly PanelId[] = TABS.flatMap(({ panels }) => panels);

/** One chart: its heading and note. */
export interface ChartInfo {
  readonly chart: Extract<ChartId, PanelId>;
  readonly title: string;
  readonly unit: string;
  /** Fields of which the target must have at least one; empty for process gauges. */
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
    // For a group, availability in any program is known only at run time.
    const absent = target.gomaxprocs === null && !target.group;
    return absent ? `${target.gomaxprocs_reason}. ${HAVE_SIZE}` : null;
  }
  if (panel.fields.some((field) => target.fields.includes(field))) {
    return null;
  }
  const absent = target.absent.find(({ field }) => panel.fields.includes(field));
  return absent?.reason ?? "The data source of this target does not provide it.";
}
