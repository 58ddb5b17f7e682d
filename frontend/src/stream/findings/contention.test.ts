import { describe, expect, it } from "vitest";
import { edge, lockOf, lockThread, node, roleOf, texts, wakesOf } from "../../testing/evidence";
import { AMONG_RULE, GIL_RULE, LOCK_RULE } from "./contention";

describe("a lock that holds up threads", () => {
  const eight = Array.from({ length: 8 }, (_, k) => lockThread(k + 1, 0.41));

  it("is found with how many wait, and how long", () => {
    expect(texts(LOCK_RULE, { locks: [lockOf("lock", eight, eight)] })).toEqual([
      "8 threads waited 41.0 % of the time for one lock, “pool_mu”.",
    ]);
  });

  it("is not one where one thread waits, or all wait little", () => {
    expect(texts(LOCK_RULE, { locks: [lockOf("lock", [lockThread(1, 0.9)], [])] })).toEqual([]);
    const little = eight.map((each) => ({ ...each, wait: 0.09 }));
    expect(texts(LOCK_RULE, { locks: [lockOf("lock", little, little)] })).toEqual([]);
  });

  it("is none at which they wait for work", () => {
    for (const kind of ["condition", "park", "join", "gil"] as const) {
      expect(texts(LOCK_RULE, { locks: [lockOf(kind, eight, eight)] }), kind).toEqual([]);
    }
  });

  it("is none that others release, as a semaphore at which they wait for work", () => {
    const giver = [lockThread(99, 0, 300)];
    expect(texts(LOCK_RULE, { locks: [lockOf("lock", eight, giver)] })).toEqual([]);
    const some = [...giver, lockThread(1, 0.41, 60)];
    expect(texts(LOCK_RULE, { locks: [lockOf("lock", eight, some)] })).toHaveLength(1);
  });

  it("is one that a thread holds for long which never waits for it, if it is surely a mutex", () => {
    const holder = [lockThread(9, 0, 30)];
    const waiters = [1, 2].map((tid) => lockThread(tid, 0.8));
    expect(texts(LOCK_RULE, { locks: [lockOf("mutex", waiters, holder)] })).toEqual([
      "2 threads waited 80.0 % of the time for one lock, “pool_mu”.",
    ]);
    expect(texts(LOCK_RULE, { locks: [lockOf("lock", waiters, holder)] })).toEqual([]);
  });

  it("is one without a name only if those who wait also let others go on", () => {
    const giver = [lockThread(99, 0, 300)];
    expect(texts(LOCK_RULE, { locks: [lockOf("unknown", eight, giver, false)] })).toEqual([]);
    const among = eight.map((each) => ({ ...each, wakes_per_s: 10 }));
    const [text] = texts(LOCK_RULE, { locks: [lockOf("unknown", eight, among, false)] });
    expect(text).toContain("lock 1 (its name is not known)");
  });

  it("is none without a name at which most waits end by themselves, as sleep does", () => {
    const sleepers = eight.map((each) => ({ ...each, wakes_per_s: 2 }));
    expect(texts(LOCK_RULE, { locks: [lockOf("unknown", eight, sleepers, false)] })).toEqual([]);
    expect(texts(LOCK_RULE, { locks: [lockOf("lock", eight, sleepers)] })).toHaveLength(1);
  });

  it("is none that is released by one that hardly waits itself", () => {
    // The main thread of a pool, which waited there once, as the memory was another lock's.
    const giver = lockThread(99, 0.02, 300);
    const lock = lockOf("unknown", [...eight, giver], [giver], false);
    expect(texts(LOCK_RULE, { locks: [lock] })).toEqual([]);
  });

  it("stays while it is little below its threshold", () => {
    const little = eight.map((each) => ({ ...each, wait: 0.09 }));
    const evidence = { locks: [lockOf("lock", little, little)] };
    expect(texts(LOCK_RULE, evidence, ["lock:1"])).toHaveLength(1);
    const less = eight.map((each) => ({ ...each, wait: 0.07 }));
    expect(texts(LOCK_RULE, { locks: [lockOf("lock", less, less)] }, ["lock:1"])).toEqual([]);
  });
});

describe("a lock that the program reports", () => {
  const reported = (source: string, wait: number, waits_per_s: number) => {
    const one = lockOf("lock", [{ ...lockThread(0, wait), tid: null, key: null }], []);
    const name = "mutex released by main.(*pool).use";
    return { ...one, lock: { ...one.lock, name, source, estimated: true, wait, waits_per_s } };
  };

  it("is found by how long it was waited for, whoever waited", () => {
    expect(texts(LOCK_RULE, { locks: [reported("go-mutex-profile", 2.9, 570)] })).toEqual([
      "About 2.90 waited on average for one lock, “mutex released by main.(*pool).use”, by the program's own account.",
    ]);
    expect(texts(LOCK_RULE, { locks: [reported("java-monitor", 3, 0.3)] })).toHaveLength(1);
  });

  it("is none if the wait is short, of all locks together, or of few accounts", () => {
    expect(texts(LOCK_RULE, { locks: [reported("go-mutex-profile", 0.19, 570)] })).toEqual([]);
    expect(texts(LOCK_RULE, { locks: [reported("go-metrics", 3, 0)] })).toEqual([]);
    const locks = [reported("java-monitor", 3, 0.3)];
    expect(texts(LOCK_RULE, { seconds: 20, locks })).toEqual([]);
  });
});

it("says how much of their runnable time threads wait for the GIL", () => {
  const gil = [1, 2].map((tid) => ({ ...lockThread(tid, 0.71), of_runnable: 0.71 }));
  const locks = [lockOf("gil", gil, gil)];
  expect(texts(GIL_RULE, { locks, gil })).toEqual([
    "GIL: 2 threads waited for it 71.0 % of the time in which they could have run.",
  ]);
  const little = gil.map((each) => ({ ...each, wait: 0.05, of_runnable: 0.1 }));
  expect(texts(GIL_RULE, { locks, gil: little })).toEqual([]);
});

describe("what a lock is held for", () => {
  const eight = Array.from({ length: 8 }, (_, k) => lockThread(k + 1, 0.7, 10));
  const sentence = (states: Parameters<typeof roleOf>[3]) =>
    texts(LOCK_RULE, {
      locks: [lockOf("lock", eight, eight)],
      roles: [roleOf("worker-#", 8, { cpu: 5 }, { futex: 336, ...states })],
    })[0];

  it("is said with who is at the other end of a pipe", () => {
    const pipe = texts(LOCK_RULE, {
      locks: [lockOf("lock", eight, eight)],
      roles: [roleOf("worker-#", 8, { cpu: 5 }, { futex: 336, pipe: 50 })],
      ...wakesOf(
        [node("worker-#", "role"), node("compressor", "role"), node("other", "process")],
        [
          edge("role:worker-#", "role:worker-#", 50, { blocked: 5.6 }),
          edge("role:compressor", "role:worker-#", 40, { blocked: 0.8 }),
          edge("process:other", "role:worker-#", 1, { blocked: 0.1 }),
        ],
      ),
    });
    expect(pipe).toEqual([
      "8 threads waited 70.0 % of the time for one lock, “pool_mu”; its holder waits for a pipe that compressor fills or empties.",
    ]);
    expect(sentence({ pipe: 60 })).toContain("; its holder waits for a pipe.");
  });

  it("is said if it is most of what its threads do", () => {
    expect(sentence({ file_sync_disk: 50 })).toBe(
      "8 threads waited 70.0 % of the time for one lock, “pool_mu”; its holder syncs files.",
    );
    expect(sentence({ socket_receive: 60 })).toContain("; its holder waits for the network.");
  });

  it("is said of syncs one at a time, whatever else the threads do", () => {
    const holding = (syncing: number, sync: number) =>
      texts(LOCK_RULE, {
        locks: [lockOf("lock", eight, eight)],
        roles: [
          roleOf("worker-#", 8, { cpu: 90, syncing }, { socket_receive: 80, file_sync: sync }),
        ],
      })[0];
    expect(holding(6, 50)).toMatch(/; its holder syncs files\.$/);
    expect(holding(1, 50)).toMatch(/“pool_mu”\.$/);
    expect(holding(6, 30)).toMatch(/“pool_mu”\.$/);
  });

  it("is not said of threads that run", () => {
    expect(sentence({ file_sync_disk: 4 })).toMatch(/“pool_mu”\.$/);
    expect(sentence({})).toMatch(/“pool_mu”\.$/);
  });
});

describe("threads that wait for each other", () => {
  const own = "role:posting-#";
  const evidence = (among: number, others: number, busy = 60) => ({
    roles: [roleOf("posting-#", 16, { idle: 16 * 60 - busy })],
    ...wakesOf(
      [node("posting-#", "role", 480), node("interrupts", "interrupt")],
      [
        edge(own, own, 480, { blocked: among, blocked_s: among / 480 }),
        edge("interrupt:", own, 40, { blocked: others, blocked_s: 0.01 }),
      ],
    ),
  });

  it("are found without knowing what they wait for", () => {
    expect(texts(AMONG_RULE, evidence(14.9, 0.1))).toEqual([
      "16 threads of posting-# wait for each other: 93.1 % of their time they wait until another of them wakes them, 31.0 ms each time.",
    ]);
  });

  it("are none where others end their waits, or nobody goes on", () => {
    expect(texts(AMONG_RULE, evidence(9, 5))).toEqual([]);
    expect(texts(AMONG_RULE, evidence(15.9, 0.05))).toEqual([]);
    expect(texts(AMONG_RULE, evidence(4, 0.1))).toEqual([]);
  });

  it("are not said of Go's, nor where their lock is known", () => {
    expect(texts(AMONG_RULE, { ...evidence(14.9, 0.1), go: true })).toEqual([]);
    const waiters = Array.from({ length: 16 }, (_, k) => ({
      ...lockThread(k + 1, 0.9, 30),
      role: "posting-#",
    }));
    const locks = [lockOf("lock", waiters, waiters)];
    expect(texts(AMONG_RULE, { ...evidence(14.9, 0.1), locks })).toEqual([]);
    const parks = [lockOf("park", waiters, waiters)];
    expect(texts(AMONG_RULE, { ...evidence(14.9, 0.1), locks: parks })).toHaveLength(1);
  });
});
