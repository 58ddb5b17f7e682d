import { describe, expect, it } from "vitest";
import { factInput, factModel } from "../../testing/factModel";
import { locksView, lockThreads, threadLocks } from "../locks";
import { parkedShares } from "../parked";
import { lockNames } from "./lockNames";

interface Wait {
  readonly lock: number;
  readonly tid: number;
  /** Seconds of waiting, waits and wake-ups a second. */
  readonly wait?: number;
  readonly waits?: number;
  readonly wakes?: number;
}

/** Ten seconds of threads at locks; `memory` names the locks from 1 on. */
function model(
  threads: readonly string[],
  memory: readonly string[],
  waits: readonly Wait[],
  pids: readonly number[] | null = null,
) {
  const lock_names = memory.map((name, i) => ({
    ...{ lock: i + 1, name, kind: "lock", source: "futex", address: 4096 * (i + 1) },
  }));
  const rows = (t_s: number) =>
    waits.map(({ lock, tid, wait = 0, waits: count = 0, wakes = 0 }) => ({
      ...{ lock, tid, wait_ns: wait * t_s * 1e9, waits: count * t_s, wakes: wakes * t_s },
    }));
  return factModel(
    threads,
    [0, 5, 10].map((t_s, i) => ({
      t_s,
      facts: { locks: rows(t_s), ...(i === 0 && { lock_names }) },
      counters: threads.map(() => ({ cpu_run_ns: 0 })),
    })),
    pids,
  );
}

const heap = (count: number) => Array.from({ length: count }, (_, i) => `heap #${i + 1}`);

describe("locks made for each wait", () => {
  // Four consumers that wait at locks of their own, which a producer releases.
  const queue = model(
    ["producer", "take-1", "take-2", "take-3", "take-4"],
    heap(4),
    [1, 2, 3, 4].flatMap((lock) => [
      { lock, tid: lock + 1, wait: 0.9, waits: 20 },
      { lock, tid: 1, wakes: 20 },
    ]),
  );

  it("are one lock of the role that waits", () => {
    const { locks } = locksView(factInput(queue), 1);
    expect(locks.map(({ lock, name, count }) => [lock, name, count])).toEqual([
      [1, "locks in heap, waited for by take-#", 4],
    ]);
    expect(locks[0]).toMatchObject({ waiters: 4, role: "take-#", by: "producer", waits_per_s: 80 });
    expect(locks[0]?.wait).toBeCloseTo(3.6);
    expect(locks[0]?.mean_s).toBeCloseTo(0.045);
  });

  it("open to all their threads", () => {
    const { waiters, wakers } = lockThreads(factInput(queue), 1);
    expect(waiters.map(({ name }) => name)).toEqual(["take-1", "take-2", "take-3", "take-4"]);
    expect(wakers.map(({ name, wakes_per_s }) => [name, wakes_per_s])).toEqual([["producer", 80]]);
    expect(threadLocks(factInput(queue), 2).map(({ name }) => name)).toEqual([
      "locks in heap, waited for by take-#",
    ]);
  });

  it("hold nobody up if others release them, and do if threads of the role do", () => {
    expect(parkedShares(queue)(2)).toBe(1);
    // Two of the pool have a semaphore's units and let four others go on.
    const semaphore = model(
      ["main", ...[1, 2, 3, 4, 5, 6].map((n) => `work-${n}`)],
      heap(4),
      [1, 2, 3, 4].flatMap((lock) => [
        { lock, tid: lock + 3, wait: 0.9, waits: 20 },
        { lock, tid: 2, wakes: 11 },
        { lock, tid: 3, wakes: 9 },
      ]),
    );
    expect(lockNames(semaphore).get(2)).toMatchObject({ kind: "lock", count: 4 });
    expect(parkedShares(semaphore)(4)).toBe(0);
  });

  it("are a queue's if all threads have the main thread's name and the waker never waits", () => {
    const unnamed = model(
      Array.from({ length: 5 }, () => "python3"),
      heap(4),
      [1, 2, 3, 4].flatMap((lock) => [
        { lock, tid: lock + 1, wait: 0.9, waits: 20 },
        { lock, tid: 1, wakes: 20 },
      ]),
    );
    expect(lockNames(unnamed).get(1)?.kind).toBe("condition");
  });

  it("stay apart if several threads wait at one, or there are few", () => {
    const shared = [1, 2].map((tid) => ({ lock: 1, tid, wait: 0.4, waits: 9, wakes: 9 }));
    const few = model(["work-1", "work-2"], heap(3), [
      ...shared,
      { lock: 2, tid: 1, wait: 0.2, waits: 1 },
      { lock: 3, tid: 2, wait: 0.2, waits: 1 },
    ]);
    expect([...lockNames(few).values()].map(({ name }) => name)).toEqual(heap(3));
  });

  it("become one if there are many, none of which stands out, whoever waits", () => {
    const stripes = model(
      ["work-1", "work-2"],
      heap(8),
      [1, 2, 3, 4, 5, 6, 7, 8].flatMap((lock) =>
        [1, 2].map((tid) => ({ lock, tid, wait: 0.01, waits: 9, wakes: 9 })),
      ),
    );
    const { locks } = locksView(factInput(stripes), null);
    expect(locks.map(({ name, kind, count }) => [name, kind, count])).toEqual([
      ["locks in heap, waited for by work-#", "lock", 8],
    ]);
  });

  it("are those of a program if the target is a group: each process has its own", () => {
    const names = ["shared memory #1 in postgres", "shared memory #2 in postgres"].concat(
      "shared memory #3 in postgres 12",
    );
    const group = model(
      ["postgres", "postgres", "postgres"],
      names,
      [1, 2, 3].flatMap((lock) => [
        { lock, tid: lock, wait: 0.3, waits: 9 },
        { lock, tid: (lock % 3) + 1, wakes: 9 },
      ]),
      [1, 2, 3],
    );
    expect(lockNames(group).get(3)).toMatchObject({
      ...{ lock: 1, kind: "lock", count: 3 },
      name: "locks in shared memory of postgres, waited for by postgres",
    });
  });
});
