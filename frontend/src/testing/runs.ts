/** Runs for tests. */

import type { RunSource } from "../stream/runWindow";
import type { RunLosses, RunSummary } from "../wire/generated/models";
import { TARGET } from "./frames";

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
