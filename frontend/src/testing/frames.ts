/** Frames for tests, as decoded and as bytes. */

import {
  columnFromArray,
  int64,
  tableFromColumns,
  tableToIPC,
  uint32,
  uint64,
  utf8,
} from "@uwdata/flechette";
import type { Frame, FrameTables } from "../wire/frame";
import { COLUMNS } from "../wire/generated/frameTables";
import type {
  CollectorHealth,
  FrameHeader,
  FrameTable,
  MachineCounters,
  ProcessGauges,
  TableName,
  Target,
  TargetEvent,
} from "../wire/generated/models";

/** Fields of the test target. */
export const FIELDS = [
  "cpu_run_ns",
  "cpu_delay_ns",
  "voluntary_switches",
  "involuntary_switches",
  "disk_read_bytes",
  "disk_write_bytes",
  "major_faults",
] as const;

export type Counters = Partial<Record<(typeof FIELDS)[number], number>>;

/** One row of a frame. */
export interface Row {
  readonly tid: number;
  /** With these two fields the frame is a key frame. */
  readonly start_s?: number;
  readonly name?: string;
  /** Process ID, in key frames of a group. */
  readonly pid?: number;
  /** Omitted counters are absent. */
  readonly counters: Counters;
}

export interface FrameChanges {
  readonly seq: number;
  readonly first_seq?: number;
  readonly t_s?: number;
  readonly events?: readonly TargetEvent[];
  readonly exited?: { readonly threads: number; readonly totals: Record<string, number> };
  readonly gomaxprocs?: number;
  readonly process?: Partial<ProcessGauges>;
  readonly machine?: Partial<MachineCounters>;
  readonly baseline?: boolean;
  readonly threads_born?: number;
  readonly target?: string;
  readonly tables?: FrameTables;
}

/** Health of a collector without problems. */
export const HEALTH: CollectorHealth = {
  sample_us: 100,
  sample_mean_us: 110,
  sample_max_us: 200,
  late_us: 5,
  missed_deadlines: 0,
  effective_hz: 10,
  requested_hz: 10,
  exit_records_received: 0,
  exit_records_lost: 0,
  cpu_percent: null,
  overhead_percent: null,
  budget_percent: 2,
  replay_bytes: 0,
  replay_frames: 0,
  unsent_frames: 0,
  sent_frames: 0,
  sent_bytes: 0,
};

/** Counters of a machine without energy counters. */
export const MACHINE: MachineCounters = {
  time_ns: 0,
  cpu_busy_us: null,
  package_uj: null,
  domains_uj: [],
  gaps: 0,
};

/**
 * A frame; consecutive frames are a tenth of a second apart by default. A key frame if the rows
 * have names.
 */
export function frame(changes: FrameChanges, rows: readonly Row[]): Frame {
  const { seq } = changes;
  const key = rows.length > 0 && rows.every((row) => row.name !== undefined);
  const ofGroup = key && rows.some((row) => row.pid !== undefined);
  const t_s = changes.t_s ?? seq / 10;
  const header: FrameHeader = {
    type: "frame",
    target: changes.target ?? "t-1-00000000",
    seq,
    first_seq: changes.first_seq ?? seq,
    kind: key ? "key" : "delta",
    baseline: changes.baseline ?? false,
    rows: rows.length,
    time_ns: Math.round(t_s * 1e9),
    unix_us: 1_700_000_000_000_000 + Math.round(t_s * 1e6),
    live_threads: rows.length,
    threads_born: changes.threads_born ?? 0,
    events: [...(changes.events ?? [])],
    process: { gomaxprocs: changes.gomaxprocs ?? null, rss_bytes: null, ...changes.process },
    machine: { ...MACHINE, ...changes.machine },
    health: HEALTH,
    exited: { threads: 0, inexact: 0, totals: {}, ...changes.exited },
  };
  return {
    header,
    tid: Uint32Array.from(rows, (row) => row.tid),
    fields: FIELDS,
    columns: FIELDS.map((field) =>
      Float64Array.from(rows, (row) => row.counters[field] ?? Number.NaN),
    ),
    start_ns: key ? Float64Array.from(rows, (row) => (row.start_s ?? 0) * 1e9) : null,
    names: key ? rows.map((row) => row.name ?? "") : null,
    pid: ofGroup ? Uint32Array.from(rows, (row) => row.pid ?? 0) : null,
    tables: changes.tables ?? {},
  };
}

/** Encode a frame with an independent Arrow writer, not the collector's. */
export function encodeFrame(frame: Frame): ArrayBuffer {
  const { tid, fields, columns, start_ns, names, pid } = frame;
  const encoded = Object.entries(frame.tables).map(([name, table]) =>
    encodeTable(name as TableName, table),
  );
  const described = encoded.map(([one]) => one);
  const header = described.length ? { ...frame.header, tables: described } : frame.header;
  const parts: [string, ReturnType<typeof columnFromArray>][] = [
    ["tid", columnFromArray(tid, uint32())],
  ];
  if (pid) parts.push(["pid", columnFromArray(pid, uint32())]);
  if (start_ns && names) {
    parts.push(["start_ns", columnFromArray([...start_ns].map(BigInt), int64())]);
    parts.push(["name", columnFromArray([...names], utf8())]);
  }
  for (const [i, field] of fields.entries()) {
    const values = [...(columns[i] ?? [])].map((value) =>
      Number.isNaN(value) ? null : BigInt(value),
    );
    parts.push([field, columnFromArray(values, uint64())]);
  }
  const stream = tableToIPC(tableFromColumns(parts), { format: "stream" });
  if (!stream) throw new Error("no Arrow stream was made");
  const body = header.kind === "key" ? stream : batchOf(stream, header.rows);
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padding = (8 - ((4 + text.length) % 8)) % 8;
  const behind = [body, ...encoded.map(([, bytes]) => bytes)];
  const start = 4 + text.length + padding;
  const length = behind.reduce((sum, part) => sum + part.length, start);
  const bytes = new Uint8Array(length).fill(32);
  new DataView(bytes.buffer).setUint32(0, text.length + padding, true);
  bytes.set(text, 4);
  let at = start;
  for (const part of behind) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes.buffer;
}

/** Return a table's header entry and its bytes. */
export function encodeTable(
  name: TableName,
  table: { readonly rows: number; readonly columns: object },
): [FrameTable, Uint8Array] {
  const given = table.columns as Record<string, ArrayLike<number | string>>;
  const columns = Object.entries<string>(COLUMNS[name]).map(([column, type]) => {
    const values = Array.from(given[column] ?? []);
    if (type === "utf8") return [column, columnFromArray(values, utf8())] as const;
    if (type === "uint32") return [column, columnFromArray(values, uint32())] as const;
    return [column, columnFromArray(values.map(BigInt), uint64())] as const;
  });
  const bytes = tableToIPC(
    tableFromColumns(columns as [string, ReturnType<typeof columnFromArray>][]),
    { format: "stream" },
  );
  if (!bytes) throw new Error("no Arrow stream was made");
  return [{ name, rows: table.rows, bytes: bytes.length, omitted: 0 }, bytes];
}

/**
 * Return the part of a stream that a delta frame contains: its batch message, or nothing without
 * rows.
 */
export function batchOf(stream: Uint8Array, rows: number): Uint8Array {
  if (rows === 0) return new Uint8Array();
  const schema = new DataView(stream.buffer, stream.byteOffset).getUint32(4, true);
  return stream.slice(8 + schema, -8);
}

/** Target of the test frames. */
export const TARGET: Target = {
  id: "t-1-00000000",
  host: "h-000000000000",
  process: {
    pid: 1,
    start_ticks: 1,
    started_unix_ms: 1_699_999_000_000,
    name: "program",
    command: "program --threads 3",
    executable: null,
    uid: 0,
    user: "root",
    threads: 3,
    cpu_percent: null,
    rss_bytes: null,
    runtime: "native",
    runtime_version: null,
    ports: [],
    refusal: null,
  },
  state: "attached",
  rate_hz: 10,
  attached_unix_us: 1_700_000_000_000_000,
  source: {
    kind: "taskstats",
    taskstats_version: 16,
    layout: "v16",
    reply_bytes: 560,
    reason: "CAP_NET_ADMIN",
    exits: true,
    exits_reason: "registered",
    network: "none: no eBPF",
  },
  energy: { domains: [], reason: "there is no RAPL in /sys/class/powercap" },
  fields: [...FIELDS],
  absent: [{ field: "net_read_bytes", reason: "needs eBPF" }],
  gomaxprocs: null,
  gomaxprocs_reason: "not a Go program",
  steering: null,
};
