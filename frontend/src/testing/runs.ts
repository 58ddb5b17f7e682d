/** Runs for tests. Synthetic tables of least and greatest rates, as the backend sends them. */

import {
  columnFromArray,
  float32,
  int64,
  tableFromColumns,
  tableToIPC,
  uint32,
} from "@uwdata/flechette";
import type { RunSource } from "../stream/runWindow";
import type { RunLosses, RunSummary } from "../wire/generated/models";
import { TARGET } from "./frames";

/** Least and greatest CPU use of a thread (0: the process) over a time span, in cores. */
interface Burst {
  readonly tid: number;
  readonly start_s: number;
  readonly from_s: number;
  readonly to_s: number;
  readonly least: number;
  readonly greatest: number;
}

/** A table of bursts, by thread and time. */
export function extremesOf(bursts: readonly Burst[]): ArrayBuffer {
  const ns = (pick: (burst: Burst) => number) =>
    columnFromArray(
      bursts.map((burst) => BigInt(Math.round(pick(burst) * 1e9))),
      int64(),
    );
  const rates = (pick: (burst: Burst) => number) =>
    columnFromArray(
      bursts.map((burst) => pick(burst) * 1e9),
      float32(),
    );
  const table = tableFromColumns({
    tid: columnFromArray(
      bursts.map(({ tid }) => tid),
      uint32(),
    ),
    start_ns: ns(({ start_s }) => start_s),
    from_ns: ns(({ from_s }) => from_s),
    to_ns: ns(({ to_s }) => to_s),
    cpu_run_ns_least: rates(({ least }) => least),
    cpu_run_ns_greatest: rates(({ greatest }) => greatest),
  });
  const bytes = tableToIPC(table, { format: "stream" });
  if (!bytes) throw new Error("no stream");
  return bytes.slice().buffer;
}

export const NO_LOSSES: RunLosses = {
  frames: 0,
  gaps: 0,
  missing_ns: 0,
  truncated_bytes: 0,
  coalesced: 0,
  deadlines_missed: 0,
  samples_failed: 0,
  exit_records_lost: 0,
  clock_jumps: 0,
};

/** A run in the list: a minute of three threads. */
export function summary(changes: Partial<RunSummary> = {}): RunSummary {
  return {
    id: "r-20261121-130500-1f2e3d",
    name: "run",
    tags: [],
    group: null,
    notes: "",
    state: "complete",
    end: "stopped",
    end_detail: "",
    created_unix_us: 1_700_000_000_000_000,
    started_unix_us: 1_700_000_000_000_000,
    duration_ns: 60e9,
    host_name: "host",
    target: TARGET.id,
    pid: 1,
    process: "program",
    command: "program --threads 3",
    policies: [],
    losses: NO_LOSSES,
    counts: {
      frames: 600,
      thread_samples: 1800,
      threads: 3,
      events: 0,
      bytes: 10_000,
      open_bytes: 0,
    },
    exit_code: null,
    signal: null,
    imported: false,
    ...changes,
  };
}

/**
 * A run for the worker: an hour of three threads at ten samples per second, from 100 s after
 * attach.
 */
export const HOUR: RunSource = {
  id: "r-20261121-130500-1f2e3d",
  url: "/api/v1/runs/r-20261121-130500-1f2e3d/frames",
  target: TARGET,
  from_s: 100,
  to_s: 3700,
  instants: 36_001,
  rows: 108_003,
};
