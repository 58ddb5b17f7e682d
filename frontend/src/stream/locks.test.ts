import { expect, it } from "vitest";
import { factInput, factModel } from "../testing/factModel";
import { locksView, threadLocks } from "./locks";
import { parkedShares } from "./parked";

const NAMES = ["worker-1", "worker-2", "worker-3", "idle-1"];

const LOCK_NAMES = [
  { lock: 1, name: "pool_mu", kind: "lock", source: "futex", symbol_file: "server", address: 4096 },
  { lock: 2, name: "", kind: "unknown", source: "futex" },
  { lock: 3, name: "m.park", kind: "park", source: "futex" },
  { lock: 4, name: "the GIL", kind: "gil", source: "futex" },
  { lock: 5, name: "flock", kind: "call", source: "system-call" },
];

/** Seconds of waiting since attach. */
function locks(t_s: number) {
  const row = (lock: number, tid: number, wait: number, waits: number, wakes = 0) => ({
    ...{ lock, tid, wait_ns: wait * t_s * 1e9, waits: waits * t_s, wakes: wakes * t_s },
  });
  return [
    row(1, 1, 0.4, 20, 10),
    row(1, 2, 0.3, 10, 20),
    row(2, 3, 0.05, 1),
    row(3, 4, 1, 2),
    row(4, 1, 0.2, 100),
    row(4, 0, 0.1, 0),
    row(5, 4, 0.9, 3),
  ];
}

const instants = [0, 5, 10].map((t_s, i) => ({
  t_s,
  facts: { locks: locks(t_s), ...(i === 0 && { lock_names: LOCK_NAMES }) },
  // A thread runs a tenth of the time and waits a tenth for a CPU.
  counters: NAMES.map(() => ({ cpu_run_ns: 0.1e9 * t_s, cpu_delay_ns: 0.1e9 * t_s })),
}));
const model = factModel(NAMES, instants);

it("lists locks by the time that threads wait for them, parks and system calls apart", () => {
  const view = locksView(factInput(model), null);
  expect(view.locks.map(({ name, kind, waiters }) => [name, kind, waiters])).toEqual([
    ["pool_mu", "lock", 2],
    ["the GIL", "gil", 2],
    ["lock 2", "unknown", 1],
  ]);
  expect(view.parks.map(({ name }) => name)).toEqual(["m.park"]);
  expect(view.calls.map(({ name, estimated }) => [name, estimated])).toEqual([["flock", false]]);
  const [first] = view.locks;
  expect(first?.wait).toBeCloseTo(0.7);
  expect(first?.waits_per_s).toBe(30);
  expect(first?.mean_s).toBeCloseTo(0.7 / 30);
  // Share of four threads' time.
  expect(first?.share).toBeCloseTo(0.7 / 4);
  expect(first).toMatchObject({ named: true, symbol_file: "server", address: 4096 });
  expect(first?.trend.at(-1)).toBeCloseTo(0.7);
  expect(view.open).toBeNull();
});

it("opens a lock to those who wait for it and those who wake them", () => {
  const { open } = locksView(factInput(model), 1);
  expect(open?.waiters.map(({ name, wait }) => [name, wait])).toEqual([
    ["worker-1", 0.4],
    ["worker-2", 0.3],
  ]);
  expect(open?.wakers.map(({ name, wakes_per_s }) => [name, wakes_per_s])).toEqual([
    ["worker-2", 20],
    ["worker-1", 10],
  ]);
});

it("gives each thread's waiting for the GIL, of the time in which it could have run", () => {
  const { gil } = locksView(factInput(model), null);
  expect(gil.map(({ name }) => name)).toEqual(["worker-1", "ended or unknown"]);
  expect(gil[0]?.of_runnable).toBeCloseTo(0.2 / (0.2 + 0.1 + 0.1));
  expect(gil[1]?.of_runnable).toBeNaN();
});

it("follows the filter", () => {
  const view = locksView(factInput(model, { filter: "^worker-2$" }), null);
  expect(view.locks.map(({ name, waiters }) => [name, waiters])).toEqual([["pool_mu", 1]]);
  expect(view.locks[0]?.share).toBeCloseTo(0.3);
});

it("lists the locks of a thread", () => {
  const found = threadLocks(factInput(model), 1);
  expect(found.map(({ name, wait, wakes_per_s }) => [name, wait, wakes_per_s])).toEqual([
    ["pool_mu", 0.4, 10],
    ["the GIL", 0.2, 0],
  ]);
});

it("does not take contended locks of a Java virtual machine for idle parks", () => {
  const names = ["pool-1", "pool-2", "pool-3"];
  const row = (lock: number, tid: number, wait_s: number) => ({
    ...{ lock, tid, wait_ns: wait_s * 1e9, waits: 1, wakes: 0 },
  });
  const java = factModel(
    names,
    [0, 5, 10].map((t_s, i) => ({
      t_s,
      facts: {
        // All of them park; the first for a contended lock most of the time, the second always.
        locks: [row(1, 1, t_s), row(1, 2, t_s), row(1, 3, t_s), row(2, 1, 0.75 * t_s)].concat(
          row(2, 2, 1.1 * t_s),
        ),
        ...(i === 0 && {
          lock_names: [
            { lock: 1, name: "JVM park", kind: "park", source: "futex" },
            { lock: 2, name: "Lock in Shop.pay", kind: "monitor", source: "java-monitor" },
          ],
        }),
      },
      counters: names.map(() => ({ cpu_run_ns: 0 })),
    })),
  );
  expect([1, 2, 3].map(parkedShares(java))).toEqual([0.25, 0, 1]);
  const { locks: shown } = locksView(factInput(java), null);
  expect(shown.map(({ name, estimated }) => [name, estimated])).toEqual([
    ["Lock in Shop.pay", true],
  ]);
});

it("knows which waits of a thread are none of work", () => {
  // The first three wait for locks, the fourth parks; of the last no wait has ended.
  expect([1, 2, 3, 4, 99].map(parkedShares(model))).toEqual([0, 0, 0, 1, 1]);
});

it("does not call threads parked that wait for each other", () => {
  const names = ["acceptor", "posting-1", "posting-2", "posting-3"];
  const wake = (t_s: number) => (waker_tid: number, wakee_tid: number, blocked: number) => ({
    ...{ waker_tid, waker_pid: 100, wakee_tid, count: 100 * t_s },
    ...{ blocked_ns: blocked * t_s * 1e9, delay_ns: 0 },
  });
  const instants = (ends: (t_s: number) => readonly object[]) =>
    [0, 5, 10].map((t_s, i) => ({
      ...{ t_s, counters: names.map(() => ({ cpu_run_ns: 0 })) },
      facts: {
        locks: [2, 3, 4].map((tid) => ({
          ...{ lock: 3, tid, wait_ns: 0.66 * t_s * 1e9, waits: 100 * t_s, wakes: 0 },
        })),
        wakes: ends(t_s),
        ...(i === 0 && { lock_names: LOCK_NAMES }),
      },
    }));
  const shares = (ends: (t_s: number) => readonly object[]) =>
    [2, 3, 4].map(parkedShares(factModel(names, instants(ends))));
  const others = [3, 4, 2] as const;
  // Whoever has the lock sleeps, which a timer ends.
  const timers = (t_s: number) =>
    others.map((_, i) => ({ ...wake(t_s)(0, i + 2, 0.1), waker_pid: 0 }));
  const among = (t_s: number) => [
    ...others.map((tid, i) => wake(t_s)(tid, i + 2, 0.66)),
    ...timers(t_s),
  ];
  expect(shares(among)).toEqual([0, 0, 0]);
  const fed = (t_s: number) => others.map((_, i) => wake(t_s)(1, i + 2, 0.66));
  expect(shares(fed)).toEqual([1, 1, 1]);
  // So are threads that the main thread gives work to, though all have its name.
  names.fill("node");
  expect(shares((t_s) => [...fed(t_s), ...timers(t_s)])).toEqual([1, 1, 1]);
  expect(shares(among)).toEqual([0, 0, 0]);
});
