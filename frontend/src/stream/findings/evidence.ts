/** Collects evidence for the rules from the model. */

import type { RingField } from "../chartSpecs";
import type { ViewInput } from "../chartView";
import { LOCKS as LOCK } from "../facts/facts";
import { AMONG_THEM, lockNames, unnamedLock } from "../facts/lockNames";
import { mainThreads } from "../facts/mainThreads";
import { counted } from "../format";
import { goroutinesView } from "../goroutines";
import { heldWaits } from "../heldLocks";
import { limitsView } from "../limits";
import { type LocksView, locksView, lockThreads } from "../locks";
import { currentStay, growthWithin, isGo, lifeWithin, statesWithin } from "../parked";
import { queuesView } from "../queues";
import { FUTEX, ON_CPU, STATES, type ThreadState } from "../states";
import { STEP_THREADS, type Steps } from "../steps";
import { cgroupView, takersView } from "../takers";
import type { TargetModel } from "../targetModel";
import type { Thread } from "../threads";
import { wakePartners, wakesView } from "../wakes";
import { asking } from "./asking";
import { cohorts } from "./cohorts";
import {
  amongThem,
  type Evidence,
  IDLE_KINDS,
  idleAtFutexes,
  inStates,
  type LockEvidence,
  type RoleTimes,
  type StuckThread,
  type ThreadTimes,
  type TimesOf,
  type TitledStay,
} from "./finding";
import { eventLoops, type Stays, staysByTid } from "./loopEvidence";
import { SATURATED } from "./loops";
import { queueEvidence } from "./queueEvidence";
import { saidBy } from "./titles";

/** Number of locks examined in detail: those with the longest waits. */
const LOCKS = 10;
/** Maximum number of saturated threads whose wake-ups are examined. */
const THREADS = 8;

export function* evidenceSteps(input: ViewInput): Steps<Evidence> {
  const { model, span, now_s } = input;
  // Findings cover the whole process, regardless of the filter.
  const all: ViewInput = { ...input, filter: { fits: () => true, problem: "" } };
  const t0_s = Math.max(span.t0_s, model.since_s);
  const t1_s = Math.min(span.t1_s, now_s);
  const seconds = t1_s - t0_s;
  const locks = locksView(all, null);
  const evidence = lockEvidence(all, locks);
  yield undefined;
  const stays = staysByTid(all);
  const threads = yield* threadTimes(all, contendedBy(evidence), stays, t0_s, t1_s);
  const saturated = threads
    .filter(({ cpu, queue, wall }) => cpu + queue >= SATURATED * wall && cpu >= queue)
    .filter(({ wall }) => wall >= 0.5 * seconds)
    .slice(0, THREADS)
    .map((thread) => ({ thread, wakees: wakePartners(all, thread.tid, "wakees") }));
  const queues = queuesView(all);
  return {
    seconds,
    ends_s: t1_s - Math.max(t0_s, oldestEnd(model)),
    ledger: model.states.there || model.facts.some,
    roles: roleTimes(threads, mainsOf(model), unnamedRoles(model), t0_s, t1_s),
    saturated,
    loops: eventLoops(all, threads, stays),
    locks: evidence,
    gil: locks.gil,
    stuck: stuckThreads(all, threads, t1_s),
    titled: titledStays(all, threads, t1_s),
    wakes: wakesView(all),
    takers: takersView(all),
    cgroup: cgroupView(all),
    limits: limitsView(all),
    goroutines: goroutinesView(all),
    queues: queueEvidence(queues, model, threads, seconds),
    asking: asking(all, queues.asked, threads, seconds),
    cohorts: cohorts(all, threads),
    go: isGo(model, t1_s),
    grouped: model.levels.grouped,
  };
}

/** Minimum length of a wait that may not end, in seconds. */
const STUCK_S = 5;

/** Threads that wait at a futex for a while at the window's end, and who holds what they wait for. */
function stuckThreads(
  { model, span }: ViewInput,
  threads: readonly ThreadTimes[],
  t1_s: number,
): readonly StuckThread[] {
  const names = lockNames(model);
  const stretches = model.states.history.between(span.t0_s, t1_s);
  const byTid = new Map(threads.map((thread) => [thread.tid, thread]));
  const held = new Map(
    heldWaits(model, span.t0_s, t1_s).map((wait) => [wait.thread.tid, wait] as const),
  );
  return threads.flatMap((thread): readonly StuckThread[] => {
    const known = model.threads.byTid.get(thread.tid);
    const stay = known ? currentStay(model.states, stretches, known) : null;
    const seconds = t1_s - (stay?.since_s ?? t1_s);
    if (stay?.state !== FUTEX || seconds < STUCK_S) return [];
    const wait = held.get(thread.tid);
    const lock = wait ? (names.get(wait.lock) ?? unnamedLock(wait.lock)) : null;
    const number = wait?.lock ?? 0;
    const holder = wait ? (byTid.get(wait.holder) ?? null) : null;
    return [{ thread, seconds, lock, number, holder }];
  });
}

/** Seconds before the newest instant within which titles, which have no past, are of a window. */
const TITLES_S = 5;

/** Processes whose titles say that they wait, and whose main threads sleep for a while. */
function titledStays(
  { model, span, now_s }: ViewInput,
  threads: readonly ThreadTimes[],
  t1_s: number,
): readonly TitledStay[] {
  if (t1_s < now_s - TITLES_S) return [];
  const stretches = model.states.history.between(span.t0_s, t1_s);
  const byTid = new Map(threads.map((thread) => [thread.tid, thread]));
  return [...model.levels.live.values()].flatMap(({ pid, row }): readonly TitledStay[] => {
    const says = saidBy(row?.title ?? "");
    const thread = says === "" ? undefined : byTid.get(pid);
    const known = thread && model.threads.byTid.get(pid);
    const stay = known ? currentStay(model.states, stretches, known) : null;
    if (!thread || !stay || stay.state === ON_CPU) return [];
    return [{ thread, says, seconds: t1_s - Math.max(stay.since_s, span.t0_s) }];
  });
}

/** End of the oldest ended thread that is known, if older ones were forgotten. */
function oldestEnd({ threads: { ended, folded } }: TargetModel): number {
  return folded > 0 ? (ended[0]?.end_s ?? Number.NEGATIVE_INFINITY) : Number.NEGATIVE_INFINITY;
}

/** Seconds of threads at locks of kind park, by tid. */
function parkedBy(input: ViewInput): ReadonlyMap<number, number> {
  const { model, span, now_s } = input;
  const { locks } = model.facts;
  const window = locks.window(span.t0_s, Math.min(span.t1_s, now_s));
  const names = lockNames(model);
  const parked = new Map<number, number>();
  for (const slot of locks.all()) {
    if (names.get(locks.key(slot, LOCK.lock))?.kind !== "park") continue;
    const tid = locks.key(slot, LOCK.tid);
    parked.set(tid, (parked.get(tid) ?? 0) + locks.grown(window, slot, LOCK.wait_ns) / 1e9);
  }
  return parked;
}

function lockEvidence(input: ViewInput, { locks }: LocksView): readonly LockEvidence[] {
  return locks.slice(0, LOCKS).map((lock) => ({ lock, ...lockThreads(input, lock.lock) }));
}

/** Share of time that threads waited for locks held by other threads. */
function contendedBy(locks: readonly LockEvidence[]): ReadonlyMap<number, number> {
  const waits = new Map<number, number>();
  for (const evidence of locks) {
    const { kind } = evidence.lock;
    if (IDLE_KINDS.includes(kind)) continue;
    if (kind === "unknown" && amongThem(evidence) < AMONG_THEM) continue;
    for (const { tid, wait } of evidence.waiters) {
      if (tid !== null) waits.set(tid, (waits.get(tid) ?? 0) + wait);
    }
  }
  return waits;
}

/** Counters of a thread that does something for others. */
const MOVED = [
  ...(["disk_read_bytes", "disk_write_bytes"] as const),
  ...(["net_read_calls", "net_write_calls"] as const),
];

function* threadTimes(
  input: ViewInput,
  contended: ReadonlyMap<number, number>,
  stays: ReadonlyMap<number, Stays>,
  t0_s: number,
  t1_s: number,
): Steps<readonly ThreadTimes[]> {
  const { model } = input;
  const stretches = model.states.history.between(t0_s, t1_s);
  const parks = parkedBy(input);
  const found: ThreadTimes[] = [];
  // A snapshot: between two steps, threads may be added or forgotten.
  for (const [place, thread] of [...model.threads.byTid.values()].entries()) {
    if (place % STEP_THREADS === STEP_THREADS - 1) yield undefined;
    const wall = lifeWithin(model, thread, t0_s, t1_s);
    if (wall <= 0) continue;
    const { key, tid, name, role } = thread;
    const process = thread.process ? `${thread.process.name} (${thread.process.pid})` : "";
    const seconds = statesWithin(model.states, stretches, thread);
    const held_s = (contended.get(tid) ?? 0) * (t1_s - t0_s);
    const times = seconds
      ? timesOfStates(seconds, held_s)
      : timesOfCounters(model, thread, t0_s, t1_s);
    const grown = (field: RingField): number =>
      known(growthWithin(model, thread, field, t0_s, t1_s));
    const more = {
      parked: parks.get(tid) ?? 0,
      system: grown("system_cpu_us") / 1e6,
      faults: grown("minor_faults"),
      runs: stays.get(tid)?.runs ?? 0,
      short_runs: stays.get(tid)?.short_runs ?? 0,
      moved: MOVED.reduce((sum, field) => sum + grown(field), 0),
    };
    const born_s = thread.start_ns / 1e9;
    const ended_s = thread.until_s ?? Number.POSITIVE_INFINITY;
    found.push({ key, tid, name, role, process, wall, born_s, ended_s, ...times, ...more });
  }
  return found;
}

type KindTimes = Pick<TimesOf, "cpu" | "queue" | "disk" | "idle" | "states">;

/** Times from the ledger: a thread at a futex that nobody holds is idle. */
function timesOfStates(seconds: Float64Array, held_s: number): KindTimes {
  const sum = (counts: (state: ThreadState) => boolean): number =>
    STATES.reduce((all, state) => all + (counts(state) ? (seconds[state.number] ?? 0) : 0), 0);
  const futex = sum(({ id }) => id === "futex");
  return {
    cpu: sum(({ group }) => group === "running"),
    queue: sum(({ group }) => group === "runnable"),
    // A sync waits for the disk even where another thread writes the journal.
    disk: sum(({ group, id }) => group === "disk" && (id.endsWith("_disk") || id === "file_sync")),
    idle: sum(({ idle }) => idle) + Math.max(0, futex - held_s),
    states: seconds,
  };
}

function timesOfCounters(
  model: TargetModel,
  thread: Thread,
  t0_s: number,
  t1_s: number,
): KindTimes {
  const grown = (field: RingField): number => growthWithin(model, thread, field, t0_s, t1_s) / 1e9;
  return {
    cpu: grown("cpu_run_ns"),
    queue: grown("cpu_delay_ns"),
    disk: grown("blkio_delay_ns"),
    idle: Number.NaN,
    states: null,
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const NO_TIMES = {
  ...{ wall: 0, cpu: 0, queue: 0, disk: 0, idle: 0, parked: 0, system: 0, faults: 0 },
  ...{ runs: 0, short_runs: 0, moved: 0 },
};
const NO_LIVES = {
  ...{ threads: 0, live: 0, born: 0, late: 0, short: 0, short_s: 0, syncing: 0 },
  unnamed: false,
  mains: 0,
  unused: 0,
};

/** IDs of main threads. */
function mainsOf(model: TargetModel): ReadonlySet<number> {
  return new Set(Array.from(mainThreads(model), ({ tid }) => tid));
}

/** Roles of threads that have the name of their process' main thread, as none gave them one. */
function unnamedRoles(model: TargetModel): ReadonlySet<string> {
  const main = new Map([...mainThreads(model)].map((thread) => [thread.process, thread]));
  const roles = new Set<string>();
  for (const thread of model.threads.byTid.values()) {
    const own = main.get(thread.process);
    if (own && own !== thread && own.role === thread.role) roles.add(thread.role);
  }
  return roles;
}

function roleTimes(
  threads: readonly ThreadTimes[],
  mains: ReadonlySet<number>,
  unnamed: ReadonlySet<string>,
  t0_s: number,
  t1_s: number,
): readonly RoleTimes[] {
  const roles = new Map<string, Mutable<RoleTimes>>();
  const processes = new Map<string, Set<string>>();
  for (const thread of threads) {
    const { role, process, states } = thread;
    let sums = roles.get(role);
    if (!sums) {
      const key = `role:${role}` as const;
      sums = { key, role, process, ...NO_TIMES, ...NO_LIVES, states: null };
      sums.unnamed = unnamed.has(role);
      roles.set(role, sums);
      processes.set(role, new Set());
    }
    processes.get(role)?.add(process);
    if (mains.has(thread.tid)) sums.mains++;
    if (thread.cpu === 0 && thread.runs === 0) sums.unused += known(idleAtFutexes(thread));
    sums.wall += thread.wall;
    sums.cpu += known(thread.cpu);
    sums.queue += known(thread.queue);
    sums.disk += known(thread.disk);
    // An unknown value makes the sum unknown.
    sums.idle += thread.idle;
    sums.parked += thread.parked;
    sums.system += thread.system;
    sums.faults += thread.faults;
    sums.runs += thread.runs;
    sums.short_runs += thread.short_runs;
    sums.moved += thread.moved;
    const all = sums.states ?? (states ? new Float64Array(states.length) : null);
    if (all && states)
      for (const [number, seconds] of states.entries()) all[number] = (all[number] ?? 0) + seconds;
    sums.states = all;
    if (inStates(thread, "file_sync", "file_sync_disk") > 0) sums.syncing++;
    addLife(sums, thread, t0_s, t1_s);
  }
  for (const sums of roles.values()) {
    const { size } = processes.get(sums.role) ?? new Set();
    if (size > 1) sums.process = counted(size, "process", "processes");
  }
  return [...roles.values()];
}

function addLife(
  sums: Mutable<RoleTimes>,
  { born_s, ended_s }: ThreadTimes,
  t0_s: number,
  t1_s: number,
): void {
  sums.threads++;
  if (ended_s > t1_s) sums.live++;
  if (born_s <= t0_s) return;
  sums.born++;
  if (born_s > (t0_s + t1_s) / 2) sums.late++;
  if (ended_s > t1_s) return;
  sums.short++;
  sums.short_s += ended_s - born_s;
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
