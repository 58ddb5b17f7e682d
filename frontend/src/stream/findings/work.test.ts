import { describe, expect, it } from "vitest";
import { edge, node, roleOf, texts, wakesOf } from "../../testing/evidence";
import type { WakeNode } from "../wakes";
import { FULL_POOL_RULE, IDLE_POOL_RULE, LITTLE_WORK_RULE, TOGETHER_RULE } from "./work";

describe("wake-ups for little work", () => {
  const evidence = (kind: WakeNode["kind"], per_s: number, gets: number, cpu: number) => ({
    roles: [roleOf("hash-worker", 1, { cpu })],
    ...wakesOf(
      [node("net-client", kind), node("hash-worker", "role", gets)],
      [edge(`${kind}:net-client`, "role:hash-worker", per_s)],
    ),
  });

  it("are found with who wakes whom, how often, and for how long", () => {
    expect(texts(LITTLE_WORK_RULE, evidence("role", 900, 900, 0.0036 * 60))).toEqual([
      "net-client wakes hash-worker 900 times a second for 4.00 µs of work each.",
    ]);
  });

  it("are none if they are few, if others wake more, or if there is work", () => {
    expect(texts(LITTLE_WORK_RULE, evidence("role", 100, 100, 0.0001 * 60))).toEqual([]);
    expect(texts(LITTLE_WORK_RULE, evidence("role", 300, 900, 0.0036 * 60))).toEqual([]);
    expect(texts(LITTLE_WORK_RULE, evidence("role", 900, 900, 0.09 * 60))).toEqual([]);
    expect(texts(LITTLE_WORK_RULE, evidence("interrupt", 900, 900, 0.0036 * 60))).toEqual([]);
  });
});

describe("threads woken together", () => {
  /** Per second: wake-ups, runs of the waker, runs of the woken and how many are short. */
  const evidence = (per_s: number, waker: number, runs: number, short: number, threads = 12) => ({
    roles: [
      roleOf("taker-#", threads, { cpu: 10, runs: 60 * runs, short_runs: 60 * short }),
      roleOf("submitter", 1, { cpu: 1, runs: 60 * waker }),
    ],
    ...wakesOf(
      [node("submitter", "role"), node("taker-#", "role", per_s)],
      [edge("role:submitter", "role:taker-#", per_s)],
    ),
  });

  it("are found if most of them wait again at once", () => {
    expect(texts(TOGETHER_RULE, evidence(3390, 676, 5547, 5235))).toEqual([
      "12 threads of taker-# are woken together by submitter, 283 times a second each, and 91 % of the time wait again after less than 33 µs on a CPU: mostly for nothing.",
    ]);
  });

  it("are none if one is woken for each piece of work, or all have some", () => {
    expect(texts(TOGETHER_RULE, evidence(297, 297, 309, 17))).toEqual([]);
    expect(texts(TOGETHER_RULE, evidence(3390, 676, 5547, 2000))).toEqual([]);
  });

  it("are none of few threads, few wake-ups, or many small pieces of work", () => {
    expect(texts(TOGETHER_RULE, evidence(900, 290, 900, 850, 3))).toEqual([]);
    expect(texts(TOGETHER_RULE, evidence(100, 20, 170, 160))).toEqual([]);
    expect(texts(TOGETHER_RULE, evidence(20_000, 100, 20_000, 19_900))).toEqual([]);
    expect(texts(TOGETHER_RULE, { ...evidence(3390, 676, 5547, 5235), go: true })).toEqual([]);
  });
});

describe("a pool that is idle nearly always", () => {
  const idle = (threads: number, share: number, more: object = {}) => ({
    roles: [
      roleOf(
        "pool-#",
        threads,
        { idle: share * 60 * threads, cpu: 3, ...more },
        { futex: 59 * threads },
      ),
    ],
    ...wakesOf([node("pool-#", "role", 5)], []),
  });

  it("is named with what it uses", () => {
    expect(texts(IDLE_POOL_RULE, idle(16, 0.99))).toEqual([
      "16 threads of pool-# were idle 99.0 % of the time; together they used 0.0500 cores.",
    ]);
  });

  it("is none if it works, is small, or what it does is unknown", () => {
    expect(texts(IDLE_POOL_RULE, idle(16, 0.9))).toEqual([]);
    expect(texts(IDLE_POOL_RULE, idle(4, 0.99))).toEqual([]);
    expect(texts(IDLE_POOL_RULE, idle(16, Number.NaN))).toEqual([]);
  });

  it("is none of threads that may wait for a lock, unless they are Go's", () => {
    const parked = idle(16, 0.99, { parked: 900 });
    expect(texts(IDLE_POOL_RULE, parked)).toEqual([]);
    expect(texts(IDLE_POOL_RULE, { ...parked, go: true })).toHaveLength(1);
  });

  it("is none of threads without names, which may be of several pools", () => {
    expect(texts(IDLE_POOL_RULE, idle(16, 0.99, { unnamed: true }))).toEqual([]);
  });

  it("is none of threads that nobody gives work", () => {
    expect(texts(IDLE_POOL_RULE, { ...idle(16, 0.99), ...wakesOf([], []) })).toEqual([]);
  });
});

it("says that a pool is full if nobody gives its threads work, and they have some", () => {
  const pool = (name: string, timers: number, given: number, idle = 60 * given) => ({
    roles: [roleOf(name, 4, { cpu: 2, idle })],
    ...wakesOf(
      [node("acceptor", "role"), node(name, "role", timers + given)],
      [
        edge("interrupt:", `role:${name}`, timers, { blocked: 3.9 - given }),
        edge("role:acceptor", `role:${name}`, 10, { blocked: given }),
      ],
    ),
  });
  const name = "pool-#-thread-#";
  expect(texts(FULL_POOL_RULE, pool(name, 40, 0.01))).toEqual([
    "All 4 threads of pool-#-thread-# are busy all the time: none waits for work, and what comes beside has to queue.",
  ]);
  const workers = "ThreadPoolExecutor";
  expect(texts(FULL_POOL_RULE, pool(workers, 20, 0))[0]).toMatch(/^All 4 threads of ThreadPool/);
  expect(texts(FULL_POOL_RULE, pool(workers, 10, 3.2))).toEqual([]);
  expect(texts(FULL_POOL_RULE, pool(name, 40, 2))).toEqual([]);
  // Another thread wakes them from pipes, not from waiting for work.
  expect(texts(FULL_POOL_RULE, pool("libuv-worker", 0, 3.9, 0))).toHaveLength(1);
  // Idle: nothing wakes them.
  expect(texts(FULL_POOL_RULE, { roles: [roleOf(name, 4)] })).toEqual([]);
  // One of them takes all work, and the others never get any.
  const roles = [roleOf(name, 4, { cpu: 2, idle: 0.6, unused: 180 })];
  expect(texts(FULL_POOL_RULE, { ...pool(name, 40, 0.01), roles })).toEqual([]);
  // A role without the name of a pool may have work of its own.
  expect(texts(FULL_POOL_RULE, pool("flusher-#", 40, 0.01))).toEqual([]);
});

it("says what fills the workers of an asynchronous runtime, which poll without work", () => {
  const workers = (polling: number) => ({
    roles: [
      roleOf("tokio-rt-worker", 2, { cpu: 2, idle: 118 }, { sleep: 118 - polling, poll: polling }),
    ],
    ...wakesOf(
      [node("tokio-rt-worker", "role", 33)],
      [edge("interrupt:", "role:tokio-rt-worker", 33, { blocked: 1.9 })],
    ),
  });
  expect(texts(FULL_POOL_RULE, workers(1))).toEqual([
    "All 2 threads of tokio-rt-worker are busy all the time: they mostly sleep, and what comes beside has to queue.",
  ]);
  expect(texts(FULL_POOL_RULE, workers(50))).toEqual([]);
});

describe("a pool with a default limit", () => {
  /** Threads, and the share of their time in which they wait until a loop hands on work. */
  const evidence = (threads: number, waiting: number) => ({
    roles: [
      roleOf(
        "AnyIO worker thread",
        threads,
        { idle: 60 * threads, cpu: 6 },
        { sleep: 60 * threads * (1 - waiting), futex: 60 * threads * waiting },
      ),
    ],
    ...wakesOf(
      [node("AnyIO worker thread", "role", 2 * threads)],
      [
        edge("role:python", "role:AnyIO worker thread", 2 * threads, {
          blocked: waiting * threads,
        }),
      ],
    ),
  });

  it("is full with all its threads, though these wait shortly for the loop", () => {
    expect(texts(FULL_POOL_RULE, evidence(40, 0.2))).toEqual([
      "All 40 threads of AnyIO worker thread are busy: the pool starts no more, and what comes beside has to queue.",
    ]);
  });

  it("is not full with fewer, or if they mostly wait", () => {
    expect(texts(FULL_POOL_RULE, evidence(39, 0.2))).toEqual([]);
    expect(texts(FULL_POOL_RULE, evidence(40, 0.7))).toEqual([]);
  });
});
