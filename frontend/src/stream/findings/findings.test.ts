import { describe, expect, it } from "vitest";
import { factInput, factModel, LEDGER_TARGET } from "../../testing/factModel";
import type { LockKind } from "../facts/parties";
import type { LockThread } from "../locks";
import type { TakerRow } from "../takers";
import type { WakeEdge, WakeNode } from "../wakes";
import type { Evidence, LockEvidence, Rule, TimesOf } from "./finding";
import {
  findingsView,
  found,
  GIL_RULE,
  LOCK_RULE,
  TAKEN_CPU_RULE,
  THROTTLING_RULE,
} from "./findings";
import { DISK_RULE, IDLE_POOL_RULE, LITTLE_WORK_RULE, SATURATED_RULE } from "./work";

const NOTHING: Evidence = {
  seconds: 60,
  ledger: true,
  roles: [],
  saturated: [],
  locks: [],
  gil: [],
  wakes: { state: "ok", reason: "", seconds: 60, nodes: [], edges: [], omitted: 0 },
  takers: {
    ...{ state: "ok", reason: "", seconds: 60, rows: [], delay: 0 },
    ...{ cgroup: null, steal: 0, omitted: 0 },
  },
  cgroup: null,
};

function texts(rule: Rule, evidence: Partial<Evidence>, shown: readonly string[] = []): string[] {
  return found([rule], { ...NOTHING, ...evidence }, shown).map(({ text }) => text);
}

function thread(tid: number, wait: number, wakes_per_s = 0): LockThread {
  return {
    ...{ key: `${tid}@0`, tid, name: `worker-${tid}`, colour: 0, wait },
    ...{ waits_per_s: 10, mean_s: wait / 10, wakes_per_s },
  };
}

function lock(kind: LockKind, waiters: LockThread[], wakers: LockThread[], named = true) {
  const wait = waiters.reduce((sum, each) => sum + each.wait, 0);
  const name = named ? "pool_mu" : "lock 1";
  const evidence: LockEvidence = {
    lock: {
      ...{ lock: 1, name, named, kind, source: "futex", symbol_file: "", address: 0 },
      ...{ estimated: false, wait, waits_per_s: 80, mean_s: wait / 80, waiters: waiters.length },
      ...{ share: 0.1, trend: new Float32Array(0) },
    },
    waiters,
    wakers,
  };
  return evidence;
}

const times = (wall: number, more: Partial<TimesOf>): TimesOf => ({
  ...{ wall, cpu: 0, queue: 0, disk: 0, idle: 0 },
  ...more,
});

function role(name: string, threads: number, more: Partial<TimesOf>) {
  return { key: `role:${name}`, role: name, process: "", threads, ...times(60 * threads, more) };
}

describe("a lock that holds up threads", () => {
  const eight = Array.from({ length: 8 }, (_, k) => thread(k + 1, 0.41));

  it("is found with how many wait, and how long", () => {
    expect(texts(LOCK_RULE, { locks: [lock("lock", eight, eight)] })).toEqual([
      "8 threads waited 41.0 % of the time for one lock, “pool_mu”.",
    ]);
  });

  it("is not one where one thread waits, or all wait little", () => {
    expect(texts(LOCK_RULE, { locks: [lock("lock", [thread(1, 0.9)], [])] })).toEqual([]);
    const little = eight.map((each) => ({ ...each, wait: 0.09 }));
    expect(texts(LOCK_RULE, { locks: [lock("lock", little, little)] })).toEqual([]);
  });

  it("is none at which they wait for work", () => {
    for (const kind of ["condition", "park", "join", "gil"] as const) {
      expect(texts(LOCK_RULE, { locks: [lock(kind, eight, eight)] }), kind).toEqual([]);
    }
  });

  it("is one without a name only if those who wait also let others go on", () => {
    const giver = [thread(99, 0, 300)];
    expect(texts(LOCK_RULE, { locks: [lock("unknown", eight, giver, false)] })).toEqual([]);
    const among = eight.map((each) => ({ ...each, wakes_per_s: 10 }));
    const [text] = texts(LOCK_RULE, { locks: [lock("unknown", eight, among, false)] });
    expect(text).toContain("lock 1 (its name is not known)");
  });

  it("stays while it is little below its threshold", () => {
    const little = eight.map((each) => ({ ...each, wait: 0.09 }));
    const evidence = { locks: [lock("lock", little, little)] };
    expect(texts(LOCK_RULE, evidence, ["lock:1"])).toHaveLength(1);
    const less = eight.map((each) => ({ ...each, wait: 0.07 }));
    expect(texts(LOCK_RULE, { locks: [lock("lock", less, less)] }, ["lock:1"])).toEqual([]);
  });
});

describe("a lock that the program reports", () => {
  const reported = (source: string, wait: number, waits_per_s: number) => {
    const one = lock("lock", [{ ...thread(0, wait), tid: null, key: null }], []);
    const name = "mutex released by main.(*pool).use";
    return { ...one, lock: { ...one.lock, name, source, estimated: true, wait, waits_per_s } };
  };

  it("is found by how long it was waited for, whoever waited", () => {
    expect(texts(LOCK_RULE, { locks: [reported("go-mutex-profile", 2.9, 570)] })).toEqual([
      "About 2.90 s of waiting a second for one lock, “mutex released by main.(*pool).use”, by the program's own account.",
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
  const gil = [1, 2].map((tid) => ({ ...thread(tid, 0.71), of_runnable: 0.71 }));
  const locks = [lock("gil", gil, gil)];
  expect(texts(GIL_RULE, { locks, gil })).toEqual([
    "GIL: 2 threads waited for it 71.0 % of the time in which they could have run.",
  ]);
  const little = gil.map((each) => ({ ...each, wait: 0.05, of_runnable: 0.1 }));
  expect(texts(GIL_RULE, { locks, gil: little })).toEqual([]);
});

it("names GOMAXPROCS and the CPU limit where periods are throttled, and only there", () => {
  const cgroup = { limit: 2, gomaxprocs: 8, periods: 600, throttled: 222, throttled_share: 0.4 };
  expect(texts(THROTTLING_RULE, { cgroup })).toEqual([
    "GOMAXPROCS 8, CPU limit 2.00 cores: throttled in 37.0 % of periods.",
  ]);
  const other = { ...cgroup, gomaxprocs: null };
  expect(texts(THROTTLING_RULE, { cgroup: other })).toEqual([
    "CPU limit 2.00 cores: throttled in 37.0 % of periods.",
  ]);
  expect(texts(THROTTLING_RULE, { cgroup: { ...cgroup, throttled: 12 } })).toEqual([]);
  expect(texts(THROTTLING_RULE, { cgroup: { ...cgroup, limit: null } })).toEqual([]);
});

it("names the process that runs instead", () => {
  const row = (kind: TakerRow["kind"], delay: number, share: number): TakerRow => ({
    ...{ key: `${kind}:x`, kind, name: "ffmpeg", delay, share, threads: 3, role: "worker-#" },
  });
  const takers = (rows: TakerRow[]) => ({ takers: { ...NOTHING.takers, rows } });
  expect(texts(TAKEN_CPU_RULE, takers([row("process", 0.5, 0.6)]))).toEqual([
    "Process ffmpeg ran while 3 threads of this process could have run: 0.500 s a second, 60.0 % of its run-queue delay.",
  ]);
  expect(texts(TAKEN_CPU_RULE, takers([row("own", 0.5, 0.6)]))).toEqual([]);
  expect(texts(TAKEN_CPU_RULE, takers([row("unknown", 0.5, 0.6)]))).toEqual([]);
  expect(texts(TAKEN_CPU_RULE, takers([row("process", 0.05, 0.6)]))).toEqual([]);
  expect(texts(TAKEN_CPU_RULE, takers([row("process", 0.5, 0.2)]))).toEqual([]);
});

describe("wake-ups for little work", () => {
  const node = (name: string, kind: WakeNode["kind"], gets_per_s: number): WakeNode => ({
    ...{ key: `${kind}:${name}`, kind, name, colour: 0, threads: 1, gives_per_s: 0, gets_per_s },
  });
  const edge = (from: string, to: string, per_s: number): WakeEdge => ({
    ...{ key: `${from}>${to}`, from, to, per_s, blocked: 0, blocked_s: 0, delay_s: 0 },
  });
  const evidence = (kind: WakeNode["kind"], per_s: number, gets: number, cpu: number) => ({
    roles: [role("hash-worker", 1, { cpu })],
    wakes: {
      ...NOTHING.wakes,
      nodes: [node("net-client", kind, 0), node("hash-worker", "role", gets)],
      edges: [edge(`${kind}:net-client`, "role:hash-worker", per_s)],
    },
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

it("says which role waits for the disk, of the time in which it has work", () => {
  expect(texts(DISK_RULE, { roles: [role("writer", 2, { disk: 24, idle: 60 })] })).toEqual([
    "writer waits for the disk 40.0 % of the time in which it is not idle.",
  ]);
  expect(texts(DISK_RULE, { roles: [role("writer", 2, { disk: 24, idle: Number.NaN })] })).toEqual(
    [],
  );
  expect(texts(DISK_RULE, { roles: [role("writer", 1, { disk: 1, idle: 58 })] })).toEqual([]);
});

it("names pools that are idle nearly always", () => {
  const idle = (threads: number, share: number) =>
    role("pool-#", threads, { idle: share * 60 * threads, cpu: 3 });
  expect(texts(IDLE_POOL_RULE, { roles: [idle(16, 0.99)] })).toEqual([
    "16 threads of pool-# were idle 99.0 % of the time; together they used 50.0 mcores.",
  ]);
  expect(texts(IDLE_POOL_RULE, { roles: [idle(16, 0.9)] })).toEqual([]);
  expect(texts(IDLE_POOL_RULE, { roles: [idle(4, 0.99)] })).toEqual([]);
  const unknown = role("pool-#", 16, { idle: Number.NaN });
  expect(texts(IDLE_POOL_RULE, { roles: [unknown] })).toEqual([]);
});

it("names a thread that runs all the time while others wait for it", () => {
  const busy = {
    key: "7@0",
    tid: 7,
    name: "net-loop",
    role: "net-loop",
    process: "",
    ...times(60, { cpu: 59 }),
  };
  const wakee = (tid: number, blocked: number) => ({
    ...{ key: `${tid}@0`, tid, name: "w", kind: "role" as const, colour: 0 },
    ...{ per_s: 10, blocked, blocked_s: 0.1, delay_s: 0 },
  });
  const saturated = [{ thread: busy, wakees: [wakee(1, 0.8), wakee(2, 0.7)] }];
  expect(texts(SATURATED_RULE, { saturated })).toEqual([
    "net-loop (7) runs 98.3 % of the time, and 2 threads wait for it.",
  ]);
  const wakees = [wakee(1, 0.8), wakee(2, 0.7)];
  const named = [{ wakees, thread: { ...busy, process: "nginx (4711)" } }];
  expect(texts(SATURATED_RULE, { saturated: named })[0]).toMatch(
    /^net-loop \(7\) of nginx \(4711\) runs/,
  );
  const alone = [{ thread: busy, wakees: [wakee(1, 1.8), wakee(7, 1)] }];
  expect(texts(SATURATED_RULE, { saturated: alone })).toEqual([]);
});

describe("the list", () => {
  const lockRows = (t_s: number) =>
    [1, 2, 3].map((tid) => ({
      lock: 5,
      tid,
      wait_ns: 4e8 * t_s,
      waits: 50 * t_s,
      wakes: 50 * t_s,
    }));
  const model = factModel(
    ["worker-1", "worker-2", "worker-3"],
    [0, 5, 10].map((t_s) => ({
      t_s,
      facts: {
        locks: lockRows(t_s),
        ...(t_s === 0 && { lock_names: [{ lock: 5, name: "pool_mu", kind: "lock" }] }),
      },
    })),
  );

  it("comes out of the model, with a link to what shows it", () => {
    const view = findingsView(factInput(model), []);
    expect(view.findings).toHaveLength(1);
    expect(view.findings[0]).toMatchObject({
      text: "3 threads waited 40.0 % of the time for one lock, “pool_mu”.",
      link: { panel: "locks", lock: 5 },
    });
    expect(view.seconds).toBe(10);
  });

  it("is empty below five seconds, and says what it looked at", () => {
    const young = factModel(["a"], [{ t_s: 0 }, { t_s: 3, counters: [{ cpu_run_ns: 1 }] }]);
    expect(findingsView(factInput(young), [])).toMatchObject({ state: "waiting", findings: [] });
    const quiet = factModel(["a"], [{ t_s: 0 }, { t_s: 8, counters: [{ cpu_run_ns: 1 }] }]);
    const source = { ...LEDGER_TARGET.source, ledger: false, ledger_reason: "no BTF" };
    const target = { ...LEDGER_TARGET, source };
    const view = findingsView({ ...factInput(quiet), target }, []);
    expect(view).toMatchObject({ state: "ok", findings: [], not_reason: "no BTF" });
    expect(view.looked_at).toEqual(["the CPU limit of the control group", "disk waits"]);
    expect(view.not_looked_at).toContain("locks");
  });

  it("keeps its order while figures change", () => {
    const rules: Rule[] = [
      {
        ...{ subject: "x", ledger: false },
        find: () =>
          [1, 3, 2].map((weight) => ({
            ...{ id: `id-${weight}`, text: "", evidence: "", weight },
            link: { panel: "takers" as const },
          })),
      },
    ];
    const ids = (shown: readonly string[]) => found(rules, NOTHING, shown).map(({ id }) => id);
    expect(ids([])).toEqual(["id-3", "id-2", "id-1"]);
    expect(ids(["id-1", "id-3"])).toEqual(["id-1", "id-3", "id-2"]);
  });
});
