/** Collects evidence for the rules from the model. */

import type { ViewInput } from "../chartView";
import { threadsByTid } from "../facts/parties";
import { counted } from "../format";
import { type LocksView, locksView, lockThreads } from "../locks";
import { growthWithin, lifeWithin, statesWithin } from "../parked";
import { STATES, type ThreadState } from "../states";
import { STEP_THREADS, type Steps } from "../steps";
import { cgroupView, takersView } from "../takers";
import type { TargetModel } from "../targetModel";
import type { Thread } from "../threads";
import { wakePartners, wakesView } from "../wakes";
import {
  AMONG_THEM,
  amongThem,
  type Evidence,
  IDLE_KINDS,
  type LockEvidence,
  type RoleTimes,
  type ThreadTimes,
  type TimesOf,
} from "./finding";
import { SATURATED } from "./work";

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
  const threads = yield* threadTimes(all, contendedBy(evidence), t0_s, t1_s);
  const saturated = threads
    .filter(({ cpu, wall }) => cpu >= SATURATED * wall && wall >= 0.5 * seconds)
    .slice(0, THREADS)
    .map((thread) => ({ thread, wakees: wakePartners(all, thread.tid, "wakees") }));
  return {
    seconds,
    ledger: model.states.there || model.facts.some,
    roles: roleTimes(threads),
    saturated,
    locks: evidence,
    gil: locks.gil,
    wakes: wakesView(all),
    takers: takersView(all),
    cgroup: cgroupView(all),
  };
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

function* threadTimes(
  input: ViewInput,
  contended: ReadonlyMap<number, number>,
  t0_s: number,
  t1_s: number,
): Steps<readonly ThreadTimes[]> {
  const { model } = input;
  const stretches = model.states.history.between(t0_s, t1_s);
  const found: ThreadTimes[] = [];
  // A snapshot: between two steps, threads may be added or forgotten.
  for (const [place, thread] of [...threadsByTid(model).values()].entries()) {
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
    found.push({ key, tid, name, role, process, wall, ...times });
  }
  return found;
}

/** Times from the ledger: a thread at a futex that nobody holds is idle. */
function timesOfStates(seconds: Float64Array, held_s: number): Omit<TimesOf, "wall"> {
  const sum = (counts: (state: ThreadState) => boolean): number =>
    STATES.reduce((all, state) => all + (counts(state) ? (seconds[state.number] ?? 0) : 0), 0);
  const futex = sum(({ id }) => id === "futex");
  return {
    cpu: sum(({ group }) => group === "running"),
    queue: sum(({ group }) => group === "runnable"),
    disk: sum(({ group, id }) => group === "disk" && id.endsWith("_disk")),
    idle: sum(({ idle }) => idle) + Math.max(0, futex - held_s),
  };
}

function timesOfCounters(
  model: TargetModel,
  thread: Thread,
  t0_s: number,
  t1_s: number,
): Omit<TimesOf, "wall"> {
  const grown = (field: Parameters<typeof growthWithin>[2]): number =>
    growthWithin(model, thread, field, t0_s, t1_s) / 1e9;
  return {
    cpu: grown("cpu_run_ns"),
    queue: grown("cpu_delay_ns"),
    disk: grown("blkio_delay_ns"),
    idle: Number.NaN,
  };
}

function roleTimes(threads: readonly ThreadTimes[]): readonly RoleTimes[] {
  const roles = new Map<string, { -readonly [K in keyof RoleTimes]: RoleTimes[K] }>();
  const processes = new Map<string, Set<string>>();
  for (const { role, process, wall, cpu, queue, disk, idle } of threads) {
    let sums = roles.get(role);
    if (!sums) {
      const none = { threads: 0, wall: 0, cpu: 0, queue: 0, disk: 0, idle: 0 };
      sums = { key: `role:${role}`, role, process, ...none };
      roles.set(role, sums);
      processes.set(role, new Set());
    }
    processes.get(role)?.add(process);
    sums.threads++;
    sums.wall += wall;
    sums.cpu += known(cpu);
    sums.queue += known(queue);
    sums.disk += known(disk);
    // An unknown value makes the sum unknown.
    sums.idle += idle;
  }
  for (const sums of roles.values()) {
    const { size } = processes.get(sums.role) ?? new Set();
    if (size > 1) sums.process = counted(size, "process", "processes");
  }
  return [...roles.values()];
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
