import { expect, it } from "vitest";
import { factInput, factModel } from "../testing/factModel";
import { waitingView } from "./waiting";

const NAMES = ["posting-1", "posting-2", "posting-3", "acceptor"];
const PARK = { lock: 3, name: "JVM park", kind: "park", source: "futex" };
const KNOWN = { lock: 3, name: "pool_mu", kind: "lock", source: "futex" };

/** Three of four threads wake each other: at a park, or at a known lock. */
function model(lock: object) {
  return factModel(
    NAMES,
    [0, 5, 10].map((t_s, i) => ({
      ...{ t_s, counters: NAMES.map(() => ({ cpu_run_ns: 0 })) },
      facts: {
        locks: [1, 2, 3].map((tid) => ({
          ...{ lock: 3, tid, wait_ns: 0.66 * t_s * 1e9, waits: 100 * t_s, wakes: 100 * t_s },
        })),
        wakes: [2, 3, 1].map((waker_tid, at) => ({
          ...{ waker_tid, waker_pid: 100, wakee_tid: at + 1, count: 100 * t_s },
          ...{ blocked_ns: 0.66 * t_s * 1e9, delay_ns: 0 },
        })),
        takers: [
          ...[20, 21, 22].map((pid) => ({
            ...{ tid: 1, pid, kernel: 0, ns: 1e6 * t_s, name: `small-${pid}` },
          })),
          { tid: 2, pid: 30, kernel: 0, ns: 4e8 * t_s, name: "ffmpeg" },
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
