/** Locks that rows of tables name, as the collector found them. */

import type { TargetModel } from "../targetModel";
import { LOCK_NAMES, LOCKS } from "./facts";
import { mainThreads } from "./mainThreads";

const KINDS = [
  ...(["lock", "mutex", "condition", "gil", "park", "join", "monitor", "call"] as const),
  "unknown",
] as const;
export type LockKind = (typeof KINDS)[number];

/** Sources with measured figures, not estimates; old runs name none. */
const MEASURED: readonly string[] = ["futex", "system-call", ""];

export interface LockIdentity {
  /** Number; of several that are one lock to a reader, the lowest. */
  readonly lock: number;
  /** Name in the program, or else a number that is constant for the life of the target. */
  readonly name: string;
  readonly named: boolean;
  readonly kind: LockKind;
  /** Source of the figures: futex, go-mutex-profile and so on. */
  readonly source: string;
  /** Figures are estimates from the program's own sampling profile. */
  readonly estimated: boolean;
  /** File that contains the symbol, or "". */
  readonly symbol_file: string;
  /** Address in the program's memory, or 0 if unknown. */
  readonly address: number;
  /** Number of locks at which one thread at a time waits, if it is these; else 1. */
  readonly count: number;
}

/** Identities of locks by number; several numbers may have one. */
export type LockNames = ReadonlyMap<number, LockIdentity>;

const known = new WeakMap<TargetModel, { edition: number; names: LockNames }>();

export function lockNames(model: TargetModel): LockNames {
  const { edition } = model.facts;
  const before = known.get(model);
  if (before?.edition === edition) return before.names;
  const names = summed(model, describedLocks(model));
  known.set(model, { edition, names });
  return names;
}

function describedLocks({ facts: { lock_names } }: TargetModel): Map<number, LockIdentity> {
  const names = new Map<number, LockIdentity>();
  for (const slot of lock_names.all()) {
    const lock = lock_names.key(slot, LOCK_NAMES.lock);
    const name = lock_names.text(slot, LOCK_NAMES.name);
    const kind = lock_names.text(slot, LOCK_NAMES.kind);
    const source = lock_names.text(slot, LOCK_NAMES.source);
    names.set(lock, {
      lock,
      name: name || numbered(lock),
      named: name !== "",
      kind: KINDS.find((each) => each === kind) ?? "unknown",
      source,
      estimated: !MEASURED.includes(source),
      symbol_file: lock_names.text(slot, LOCK_NAMES.symbol_file),
      address: lock_names.fact(slot, LOCK_NAMES.address),
      count: 1,
    });
  }
  return names;
}

/** Default identity of a lock without a description. */
export function unnamedLock(lock: number): LockIdentity {
  const name = numbered(lock);
  const unknown = { kind: "unknown", source: "", symbol_file: "", address: 0, count: 1 } as const;
  return { lock, name, named: false, estimated: false, ...unknown };
}

function numbered(lock: number): string {
  return `lock ${lock}`;
}

/** Name of a lock of which only the memory is known, in a group with its process. */
const IN_MEMORY = /^(heap|stack|shared memory) #\d+(?: in (.*?)(?: \d+)?)?$/;
const SUMMED_KINDS: readonly LockKind[] = ["lock", "condition", "unknown"];
/** Share of the waiting at a lock of one thread, from which the lock is that thread's own. */
const OWN_SHARE = 0.8;
/** Minimum number of locks that are summed: own ones of threads, or any of which none stands out. */
const OWN_LOCKS = 3;
const MANY_LOCKS = 8;
const STANDS_OUT = 0.25;
/** Minimum share of wake-ups by threads that also wait: typical of a lock, not of a queue. */
export const AMONG_THEM = 0.8;

interface Waits {
  readonly identity: LockIdentity;
  readonly by_tid: Map<number, number>;
  readonly wakes: Map<number, number>;
  wait_ns: number;
}

/**
 * Sum locks that runtimes make for each wait or each thread, as those of Python's conditions and
 * queues, or the semaphores of PostgreSQL's processes: one thread at a time waits at each. Those in
 * the same memory for which a role waits become one lock.
 */
function summed(model: TargetModel, names: Map<number, LockIdentity>): LockNames {
  const threads = model.threads.byTid;
  const mainRoles = new Set(Array.from(mainThreads(model), ({ role }) => role));
  const groups = new Map<string, { memory: string; role: string; locks: Waits[] }>();
  for (const waits of waitsInMemory(model, names).values()) {
    const [, memory = "", process] = IN_MEMORY.exec(waits.identity.name) ?? [];
    const role = threads.get(largest(waits.by_tid))?.role;
    if (role === undefined) continue;
    const where = process === undefined ? memory : `${memory} of ${process}`;
    const key = `${where}\n${role}`;
    const group = groups.get(key);
    if (group) group.locks.push(waits);
    else groups.set(key, { memory: where, role, locks: [waits] });
  }
  for (const { memory, role, locks } of groups.values()) {
    const chosen = summable(locks);
    const [first] = chosen;
    if (!first) continue;
    const conditions = chosen.every(({ identity }) => identity.kind === "condition");
    const kind =
      !conditions && isAmong(model, role, mainRoles.has(role), chosen) ? "lock" : "condition";
    const identity: LockIdentity = {
      ...first.identity,
      lock: Math.min(...chosen.map((each) => each.identity.lock)),
      name: `${conditions ? "conditions" : "locks"} in ${memory}, waited for by ${role}`,
      ...{ named: true, kind, symbol_file: "", address: 0, count: chosen.length },
    };
    for (const each of chosen) names.set(each.identity.lock, identity);
  }
  return names;
}

/** Waits since attach at locks of which only the memory is known. */
function waitsInMemory(
  { facts: { locks } }: TargetModel,
  names: LockNames,
): ReadonlyMap<number, Waits> {
  const all = new Map<number, Waits>();
  for (const slot of locks.all()) {
    const lock = locks.key(slot, LOCKS.lock);
    const identity = names.get(lock);
    const summed = identity && SUMMED_KINDS.includes(identity.kind);
    if (!summed || !IN_MEMORY.test(identity.name)) continue;
    const waits = all.get(lock) ?? { identity, by_tid: new Map(), wakes: new Map(), wait_ns: 0 };
    all.set(lock, waits);
    const tid = locks.key(slot, LOCKS.tid);
    const wait_ns = locks.total(slot, LOCKS.wait_ns);
    if (wait_ns > 0) waits.by_tid.set(tid, wait_ns);
    const wakes = locks.total(slot, LOCKS.wakes);
    if (wakes > 0) waits.wakes.set(tid, wakes);
    waits.wait_ns += wait_ns;
  }
  return all;
}

/** Locks of a role's waiting that become one; none if each matters by itself. */
function summable(locks: readonly Waits[]): readonly Waits[] {
  const isOwn = ({ by_tid, wait_ns }: Waits): boolean =>
    (by_tid.get(largest(by_tid)) ?? 0) >= OWN_SHARE * wait_ns;
  const own = locks.filter(isOwn);
  if (own.length < OWN_LOCKS) return alike(locks);
  return [...own, ...alike(locks.filter((each) => !isOwn(each)))];
}

/** Locks without those that stand out; none if few are left. */
function alike(locks: readonly Waits[]): readonly Waits[] {
  const most = locks.toSorted((a, b) => b.wait_ns - a.wait_ns);
  let all = locks.reduce((sum, { wait_ns }) => sum + wait_ns, 0);
  let first = 0;
  for (; (most[first]?.wait_ns ?? 0) > STANDS_OUT * all; first++) all -= most[first]?.wait_ns ?? 0;
  return most.length - first >= MANY_LOCKS ? most.slice(first) : [];
}

/**
 * Whether threads that wait release the locks: those of the role, or, if a main thread is of that
 * role (`hasMain`), as of threads without names of their own, only those that wait.
 */
function isAmong(
  model: TargetModel,
  role: string,
  hasMain: boolean,
  locks: readonly Waits[],
): boolean {
  const threads = model.threads.byTid;
  const waiting = waitingThreads(locks);
  let all = 0;
  let among = 0;
  for (const { wakes } of locks) {
    for (const [tid, count] of wakes) {
      all += count;
      if (waiting.has(tid) || (!hasMain && threads.get(tid)?.role === role)) among += count;
    }
  }
  return all > 0 && among >= AMONG_THEM * all;
}

/** Share of the longest waiter's time from which a thread waits at locks as others do. */
export const WAITS_TOO = 0.1;

/** Threads that wait at locks for long, beside threads that hardly wait there. */
function waitingThreads(locks: readonly Waits[]): ReadonlySet<number> {
  const waits = new Map<number, number>();
  for (const { by_tid } of locks)
    for (const [tid, wait_ns] of by_tid) waits.set(tid, (waits.get(tid) ?? 0) + wait_ns);
  const longest = Math.max(0, ...waits.values());
  return new Set([...waits].flatMap(([tid, ns]) => (ns >= WAITS_TOO * longest ? [tid] : [])));
}

/** Key of the largest number; NaN without any. */
function largest(numbers: ReadonlyMap<number, number>): number {
  return [...numbers].reduce((a, b) => (b[1] > a[1] ? b : a), [Number.NaN, -1] as const)[0];
}
