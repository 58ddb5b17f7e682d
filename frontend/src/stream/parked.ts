/**
 * Waits of idle workers for locks, which are not waits during work. Lifetime of threads within a
 * span, and growth of their counters.
 */

import type { RingField } from "./chartSpecs";
import type { ViewInput } from "./chartView";
import { HOLDERS, LOCKS, WAKES } from "./facts/facts";
import { lockNames } from "./facts/lockNames";
import { areAlike, mainThreads } from "./facts/mainThreads";
import type { Stretches } from "./history";
import { increase } from "./rate";
import { ringOf } from "./series";
import { RINGS, type StateLog } from "./stateLog";
import { STATES, type StateKind, timeInState } from "./states";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";
import type { WakeEdge } from "./wakes";

/** Seconds that a thread lived within a span; unknown before the thread was first seen. */
export function lifeWithin(model: TargetModel, thread: Thread, t0_s: number, t1_s: number): number {
  const start_s = thread.start_ns / 1e9;
  const from_s = start_s >= model.since_s ? start_s : thread.seen_s;
  const until_s = Math.min(
    thread.end_s ?? Number.POSITIVE_INFINITY,
    start_s + (thread.life_s ?? Number.POSITIVE_INFINITY),
  );
  return Math.max(0, Math.min(until_s, t1_s) - Math.max(from_s, t0_s));
}

/** Thread-seconds of all threads matching the filter within a span. */
export function wallWithin({ model, filter }: ViewInput, t0_s: number, t1_s: number): number {
  let sum = 0;
  for (const thread of model.threads.all()) {
    if (filter.fits(thread)) sum += lifeWithin(model, thread, t0_s, t1_s);
  }
  return sum;
}

/** Growth of a thread's counter within a span, raw units; NaN if unknown. */
export function growthWithin(
  model: TargetModel,
  thread: Thread,
  field: RingField,
  t0_s: number,
  t1_s: number,
): number {
  const { history } = model;
  const stretches = history.between(t0_s, t1_s);
  const ring = ringOf(field);
  const before = history.at(stretches, "first", thread.slot, ring, thread.sinceBlock);
  const after = history.at(stretches, "last", thread.slot, ring, thread.sinceBlock);
  // A thread born within the span began with zero.
  const fresh = Number.isNaN(before) && thread.start_ns / 1e9 >= model.since_s;
  return increase(fresh ? 0 : before, after, 1);
}

/** Seconds of a thread in each state within a time span, by state number; null without a ledger. */
export function statesWithin(
  states: StateLog,
  stretches: Stretches,
  thread: Thread,
): Float64Array | null {
  const { n, time_s } = stretches;
  const own = states.sinceBlock(thread);
  const at = (end: "first" | "last", ring: number): number =>
    states.history.at(stretches, end, thread.slot, ring, own);
  const current = at("last", RINGS.current);
  if (n < 2 || Number.isNaN(current)) return null;
  const seconds = new Float64Array(STATES.length + 1);
  // A thread that appeared within the span had no state at its beginning.
  const before = at("first", RINGS.current);
  const fresh = Number.isNaN(before);
  for (const number of states.present) {
    const ring = RINGS.ofState(number);
    const t0_ns = 1e9 * (time_s[0] ?? 0);
    const t1_ns = 1e9 * (time_s[n - 1] ?? 0);
    const start = fresh
      ? 0
      : timeInState(at("first", ring), number, before, at("first", RINGS.since), t0_ns);
    const end = timeInState(at("last", ring), number, current, at("last", RINGS.since), t1_ns);
    seconds[number] = Math.max(0, known(end) - known(start)) / 1e9;
  }
  return seconds;
}

/** State of a thread at the end of a span, by number, and since when; null without a ledger. */
export function currentStay(
  states: StateLog,
  stretches: Stretches,
  thread: Thread,
): { readonly state: number; readonly since_s: number } | null {
  const at = (ring: number): number =>
    states.history.at(stretches, "last", thread.slot, ring, states.sinceBlock(thread));
  const state = at(RINGS.current);
  return Number.isNaN(state) ? null : { state, since_s: at(RINGS.since) / 1e9 };
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

/** Share of a role's waiting that its own threads end, from which they wait for each other. */
export const AMONG_SHARE = 0.8;
/** Somebody has what the others wait for: so many threads do not wait, on average. */
const AMONG_BUSY = 0.7;
/** Minimum number of threads that wait until another of them wakes them, on average. */
const AMONG_WAIT = 1;

/** Threads of a role, on average over a time. */
interface RoleWaits {
  readonly wall: number;
  /** Waiting that a wake-up ended, and the part of it that threads of the role ended. */
  readonly all: number;
  readonly own: number;
}

/**
 * Whether the threads of a role wait for each other.
 * @param ease Factor on thresholds.
 */
export function isEachOther({ wall, all, own }: RoleWaits, ease = 1): boolean {
  const enough = own >= ease * AMONG_WAIT && own >= ease * AMONG_SHARE * all;
  return enough && wall - own >= ease * AMONG_BUSY;
}

/** Wake-ups of a role by its own threads, and the waiting that all wake-ups of it end. */
export function ownWakes(
  edges: readonly WakeEdge[],
  key: string,
): { readonly edge: WakeEdge; readonly all: number } | null {
  const edge = edges.find(({ from, to }) => from === key && to === key);
  const all = edges.reduce((sum, { to, blocked }) => sum + (to === key ? blocked : 0), 0);
  return edge ? { edge, all } : null;
}

/** Whether a program is Go's: its threads park without work, and its locks have no threads. */
export function isGo({ sizes }: TargetModel, t_s: number): boolean {
  return !Number.isNaN(sizes.between(t_s, t_s)[0]?.value ?? Number.NaN);
}

interface WaitSums {
  all_s: number;
  own_s: number;
}

interface RoleSums extends WaitSums {
  wall_s: number;
}

interface Contended {
  readonly edition: number;
  readonly roles: ReadonlySet<string>;
  /** Shares of their threads' waiting that others of the role end, by tid. */
  readonly held: ReadonlyMap<number, number>;
}

const contended = new WeakMap<TargetModel, Contended>();

/** Roles whose threads wait for each other, by their wake-ups since attach. None of Go's do. */
export function contendedRoles(model: TargetModel): ReadonlySet<string> {
  return contention(model).roles;
}

function contention(model: TargetModel): Contended {
  const { facts } = model;
  const before = contended.get(model);
  if (before?.edition === facts.edition) return before;
  const threads = new Map<number, WaitSums>();
  const go = isGo(model, model.now_s);
  const sums = go ? new Map<string, RoleSums>() : roleSums(model, threads);
  const elapsed_s = model.now_s - model.since_s;
  const roles = new Set<string>();
  for (const [role, { wall_s, all_s, own_s }] of sums) {
    const waits = { wall: wall_s / elapsed_s, all: all_s / elapsed_s, own: own_s / elapsed_s };
    if (isEachOther(waits)) roles.add(role);
  }
  const held = new Map<number, number>();
  for (const [tid, { all_s, own_s }] of threads) {
    const role = model.threads.byTid.get(tid)?.role;
    if (role !== undefined && roles.has(role) && all_s > 0) held.set(tid, own_s / all_s);
  }
  const made = { edition: facts.edition, roles, held };
  contended.set(model, made);
  return made;
}

/** @param byTid Takes the sums of threads. */
function roleSums(model: TargetModel, byTid: Map<number, WaitSums>): ReadonlyMap<string, RoleSums> {
  const { wakes } = model.facts;
  const threads = model.threads.byTid;
  const main = mainThreads(model);
  const sums = new Map<string, RoleSums>();
  for (const thread of threads.values()) {
    const sum = sums.get(thread.role) ?? { wall_s: 0, all_s: 0, own_s: 0 };
    sum.wall_s += lifeWithin(model, thread, model.since_s, model.now_s);
    sums.set(thread.role, sum);
  }
  for (const slot of wakes.all()) {
    const wakee = threads.get(wakes.key(slot, WAKES.wakee_tid));
    const sum = wakee ? sums.get(wakee.role) : undefined;
    if (!wakee || !sum) continue;
    const own = byTid.get(wakee.tid) ?? { all_s: 0, own_s: 0 };
    byTid.set(wakee.tid, own);
    const waker = threads.get(wakes.key(slot, WAKES.waker_tid));
    const blocked_s = wakes.total(slot, WAKES.blocked_ns) / 1e9;
    const own_s = waker && areAlike(waker, wakee, main) ? blocked_s : 0;
    for (const each of [sum, own]) {
      each.all_s += blocked_s;
      each.own_s += own_s;
    }
  }
  return sums;
}

/** Shares of a thread's waits at futexes that are parks, and of its polls that others hold up. */
export type WaitShares = Readonly<Record<StateKind, number>>;

/** Shares by tid: `parkedShares`, and polls of roles whose threads wait for each other. */
export function waitShares(model: TargetModel): (tid: number) => WaitShares {
  const parked = parkedShares(model);
  const { held } = contention(model);
  return (tid) => ({ parked: parked(tid), held: held.get(tid) ?? 0 });
}

/**
 * Shares of threads' lock waits that are neither blocked nor idle as far as is known, by tid: parks
 * and waits for conditions. Threads do both without work, and for somebody: JVM threads also park at
 * a contended lock. The JVM's own account of contended waits (kind monitor) is part of the parking
 * time, and is blocked; so is what threads of one role do that wait for each other. A thread of
 * which no wait has ended waits for a lock that is not known, unless the lock's holder is.
 */
export function parkedShares(model: TargetModel): (tid: number) => number {
  const blocked = contendedRoles(model);
  const threads = blocked.size > 0 ? model.threads.byTid : null;
  const kinds = lockNames(model);
  const shares = new Map<number, number>();
  const { locks, some } = model.facts;
  const sums = new Map<number, { all: number; parked: number; contended: number }>();
  for (const slot of locks.all()) {
    const kind = kinds.get(locks.key(slot, LOCKS.lock))?.kind;
    if (kind === "call") continue;
    const tid = locks.key(slot, LOCKS.tid);
    if (threads && blocked.has(threads.get(tid)?.role ?? "")) {
      shares.set(tid, 0);
      continue;
    }
    const wait_ns = locks.total(slot, LOCKS.wait_ns);
    const sum = sums.get(tid) ?? { all: 0, parked: 0, contended: 0 };
    if (kind === "monitor") sum.contended += wait_ns;
    else sum.all += wait_ns;
    if (kind === "park" || kind === "condition") sum.parked += wait_ns;
    sums.set(tid, sum);
  }
  for (const [tid, { all, parked, contended }] of sums) {
    shares.set(tid, all > 0 ? Math.max(0, parked - contended) / all : 0);
  }
  // A thread whose wait lasts at a lock that another holds is blocked by it.
  const { holders } = model.facts;
  for (const slot of holders.all()) {
    if (holders.isThere(slot)) shares.set(holders.key(slot, HOLDERS.tid), 0);
  }
  // Without any account of locks a wait is what its state says.
  return (tid) => shares.get(tid) ?? (some ? 1 : 0);
}
