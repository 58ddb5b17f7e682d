import { describe, expect, it } from "vitest";
import { factInput, factModel, factTables } from "../testing/factModel";
import { cycle, LedgerFrames } from "../testing/ledgers";
import type { Frame } from "../wire/frame";
import { THROTTLED_FIELD } from "./states";
import { TargetModel } from "./targetModel";
import { waitingView } from "./waiting";

const NAMES = ["acceptor", "posting-1", "posting-2", "posting-3"];
const PARK = { lock: 3, name: "JVM park", kind: "park", source: "futex" };
const KNOWN = { lock: 3, name: "pool_mu", kind: "lock", source: "futex" };

/** Three of four threads wake each other: at a park, or at a known lock. */
function model(lock: object) {
  return factModel(
    NAMES,
    [0, 5, 10].map((t_s, i) => ({
      ...{ t_s, counters: NAMES.map(() => ({ cpu_run_ns: 0 })) },
      facts: {
        locks: [2, 3, 4].map((tid) => ({
          ...{ lock: 3, tid, wait_ns: 0.66 * t_s * 1e9, waits: 100 * t_s, wakes: 100 * t_s },
        })),
        wakes: [3, 4, 2].map((waker_tid, at) => ({
          ...{ waker_tid, waker_pid: 100, wakee_tid: at + 2, count: 100 * t_s },
          ...{ blocked_ns: 0.66 * t_s * 1e9, delay_ns: 0 },
        })),
        takers: [
          ...[20, 21, 22].map((pid) => ({
            ...{ tid: 2, pid, kernel: 0, ns: 1e6 * t_s, name: `small-${pid}` },
          })),
          { tid: 3, pid: 30, kernel: 0, ns: 4e8 * t_s, name: "ffmpeg" },
        ],
        ...(i === 0 && { lock_names: [lock] }),
      },
    })),
  );
}

it("has who waits for each other at something unknown, and folds small rows", () => {
  const view = waitingView(factInput(model(PARK)), null);
  expect(view.rows.map(({ name, kind, role, by }) => [name, kind, role, by])).toEqual([
    ["each other", "unknown", "posting-#", "posting-#"],
    ["ffmpeg (30)", "cpu", "posting-#", ""],
  ]);
  expect(view.rows[0]?.wait).toBeCloseTo(1.98);
  expect(view.small.map(({ name }) => name)).toEqual([
    ...["small-20 (20)", "small-21 (21)", "small-22 (22)"],
  ]);
  expect(view.parks.map(({ name }) => name)).toEqual(["JVM park"]);
});

it("does not repeat what a known lock says", () => {
  const { rows } = waitingView(factInput(model(KNOWN)), null);
  expect(rows.map(({ name, by }) => [name, by])).toEqual([
    ["pool_mu", "posting-#"],
    ["ffmpeg (30)", ""],
  ]);
});

it("has who does not read what is sent", () => {
  const sender = { tid: 1, name: "sender-1", start_s: -10, stays: [[0, "socket_send"] as const] };
  const frames = new LedgerFrames([sender]);
  const model = new TargetModel();
  for (const t_s of [0, 5, 10]) {
    const peers = [
      { peer: 1, pid: 100, peer_pid: 90, full: 1, full_ns: 1e9 * t_s, covered_ns: 1e9 * t_s },
    ].map((row) => ({ ...row, name: "slow-client" }));
    model.ingest(frames.at(t_s, { tables: factTables({ peers }) }));
  }
  const { rows } = waitingView(factInput(model), null);
  expect(rows.map(({ name, by }) => [name, by])).toEqual([
    ["Sending to a socket", "process slow-client (90)"],
  ]);
});

describe("the CPU limit of the control group", () => {
  /** One of two threads is throttled for 0.3 s a second; another process' threads are, too. */
  const limited = (throttling: boolean) => {
    const worker = { tid: 1, name: "worker-1", start_s: -10 };
    const turns = [["on_cpu", 0.7] as const, ["throttled", 0.3] as const];
    const main = { tid: 2, name: "main", start_s: -10, stays: [[0, "on_cpu"] as const] };
    const frames = new LedgerFrames([cycle(worker, turns, 20), main]);
    const model = new TargetModel();
    for (const t_s of [0, 5, 10]) {
      const process = {
        ...{ cpu_limit: 1, cgroup_periods: 10 * t_s, cgroup_throttled: 4 * t_s },
        cgroup_throttled_us: 1e6 * t_s,
      };
      const stays = [{ tid: 1, state: 25, bucket: 5, count: 4 * t_s }];
      const made = frames.at(t_s, { process, tables: factTables({ stays }) });
      model.ingest(throttling ? made : without(made, THROTTLED_FIELD));
    }
    return model;
  };

  it("has a row of threads that it holds, by role", () => {
    const { rows } = waitingView(factInput(limited(true)), null);
    expect(rows).toMatchObject([
      {
        ...{ name: "CPU limit of the control group", kind: "throttled" },
        ...{ role: "worker-#", waiters: 1, states: ["throttled"] },
      },
    ]);
    expect(rows[0]?.wait).toBeCloseTo(0.3);
    expect(rows[0]?.waits_per_s).toBeCloseTo(4);
    expect(rows[0]?.mean_s).toBeCloseTo(0.075);
  });

  it("is said by the group's counters where threads have no state for it", () => {
    const { rows } = waitingView(factInput(limited(false)), null);
    expect(rows.map(({ name, kind, wait }) => [name, kind, wait])).toEqual([
      ["CPU limit of the control group", "cpu", 1],
    ]);
  });
});

/** A frame of a collector that does not know a field. */
function without(frame: Frame, field: string): Frame {
  const kept = frame.fields.flatMap((each, i) => (each === field ? [] : [i]));
  return {
    ...frame,
    fields: kept.map((i) => frame.fields[i] ?? ""),
    columns: kept.map((i) => frame.columns[i] ?? new Float64Array(0)),
  };
}
