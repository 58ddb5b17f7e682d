import { expect, it } from "vitest";
import { CATALOGUE } from "../../wire/generated/catalogue";
import type { Target } from "../../wire/generated/models";
import { CHARTS, chartAbsentReason } from "./panels";

const target = (more: Partial<Target>): Target => ({
  id: "t-1-00000000",
  host: "h-000000000000",
  process: {
    pid: 1,
    start_ticks: 1,
    started_unix_ms: 0,
    name: "x",
    command: "x",
    executable: null,
    uid: 0,
    user: "root",
    threads: 1,
    cpu_percent: null,
    rss_bytes: null,
    runtime: "native",
    runtime_version: null,
    ports: [],
    refusal: null,
  },
  state: "attached",
  rate_hz: 10,
  attached_unix_us: 0,
  source: {
    kind: "taskstats",
    taskstats_version: 16,
    layout: "v16",
    reply_bytes: 560,
    reason: "",
    exits: true,
    exits_reason: "",
    network: "none: this kernel has no per-thread network counters",
  },
  energy: { domains: [], reason: "there is no RAPL" },
  fields: ["cpu_run_ns", "disk_read_bytes"],
  absent: [{ field: "net_read_bytes", reason: "no eBPF" }],
  gomaxprocs: null,
  gomaxprocs_reason: "not a Go program",
  steering: null,
  ...more,
});

const why = (chart: string, more: Partial<Target> = {}) => {
  const panel = CHARTS.find((each) => each.chart === chart);
  return panel === undefined ? "no such panel" : chartAbsentReason(panel, target(more));
};

it("names only fields of the catalogue", () => {
  const known = new Set(CATALOGUE.fields.map(({ name }) => name));
  expect(CHARTS.flatMap(({ fields }) => fields).filter((field) => !known.has(field))).toEqual([]);
});

it("shows a chart if one of its fields is there", () => {
  expect(why("cpu")).toBeNull();
  expect(why("disk")).toBeNull();
  expect(why("gomaxprocs", { gomaxprocs: 4 })).toBeNull();
});

it("gives the collector's reason, or says that there is none", () => {
  expect(why("network")).toBe("no eBPF");
  expect(why("gomaxprocs")).toMatch(/^not a Go program\. A program with an agent/);
  expect(why("wait")).toMatch(/does not provide it/);
});
