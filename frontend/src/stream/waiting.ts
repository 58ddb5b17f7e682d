/**
 * Waits of threads within the visible window, in one table: locks, CPUs and what ran on them
 * meanwhile, disks, sockets, pipes. Idle threads, which wait for work by nature, are left out.
 */

import type { ViewInput } from "./chartView";
import { STAYS } from "./facts/facts";
import type { LockKind } from "./facts/lockNames";
import type { FactsState } from "./facts/parties";
import { HERE, type Placed } from "./facts/places";
import { type GilThread, type LockRow, type LocksView, locksView } from "./locks";
import { contendedRoles, lifeWithin, ownWakes, statesWithin, wallWithin } from "./parked";
import { queuesView, type SendQueue } from "./queues";
import { STATES, type StateGroup, type StateId, stateNumbered } from "./states";
import { type CgroupView, type TakersView, takersView } from "./takers";
import type { Thread } from "./threads";
import { peerOf, type WakesView, wakesView } from "./wakes";

/** A kind of lock, "cpu", or the group of a state. */
export type WaitKind = LockKind | "cpu" | StateGroup;

/** A row; `where` and `detail` are of the process that ran on the CPU. */
export interface WaitRow extends Placed {
  readonly key: string;
  /** Name of a lock; of what ran on the CPU that was waited for; or of a state, as in legends. */
  readonly name: string;
  readonly kind: WaitKind;
  /** The lock, if it is one; see `LockIdentity`. */
  readonly lock: LockRow | null;
  /** States of the wait, for its stacks; empty for a single lock. */
  readonly states: readonly StateId[];
  /** Threads that wait for it, on average over the window. */
  readonly wait: number;
  /** Share of all threads' time. */
  readonly share: number;
  /** Waits per second; NaN if unknown. */
  readonly waits_per_s: number;
  readonly mean_s: number;
  /** Number of threads that waited; NaN if unknown. */
  readonly waiters: number;
  /** Role that waits longest, and the party that ends most of the waiting; "" if unknown. */
  readonly role: string;
  readonly by: string;
  /** Figures are estimates from the program's own sampling profile. */
  readonly estimated: boolean;
}

export interface WaitingView extends FactsState {
  readonly seconds: number;
  /** Longest waits first; those of less than LEAST_SHARE of thread time, if several, are in `small`. */
  readonly rows: readonly WaitRow[];
  readonly small: readonly WaitRow[];
  /** Locks where idle threads wait, and waits in other system calls. */
  readonly parks: readonly WaitRow[];
  readonly calls: readonly WaitRow[];
  readonly open: LocksView["open"];
  readonly gil: readonly GilThread[];
  /** CPU limit of the control group; null if unknown. */
  readonly cgroup: CgroupView | null;
  /** CPUs stolen by the hypervisor for other guests; NaN if unknown. */
  readonly steal: number;
  readonly omitted: number;
}

const CPU_STATES = ["preempted", "woken"] as const;
export const LEAST_SHARE = 0.005;

/** @param open Number of the lock whose threads are listed; null if none. */
export function waitingView(input: ViewInput, open: number | null): WaitingView {
  const locks = locksView(input, open);
  const takers = takersView(input);
  const { state, reason, seconds, gil } = locks;
  const rest = { state, reason, seconds, gil, open: locks.open };
  const omitted = locks.omitted + takers.omitted;
  const { cgroup, steal } = takers;
  const machine = { cgroup, steal, omitted };
  if (state !== "ok") return { ...rest, ...machine, rows: [], small: [], parks: [], calls: [] };
  const { span, now_s, model } = input;
  const t0_s = Math.max(span.t0_s, model.since_s);
  const t1_s = Math.min(span.t1_s, now_s);
  const all = wallWithin(input, t0_s, t1_s) / (t1_s - t0_s);
  // Most windows need no wake-ups; two kinds of rows may.
  let made: WakesView | null = null;
  const wakes = () => {
    made ??= wakesView(input);
    return made;
  };
  const rows = [
    ...locks.locks.map(rowOfLock),
    ...eachOtherRows(contendedRoles(model), wakes, locks.locks, all),
    ...takerRows(takers, all),
    ...limitRows(input, cgroup, t1_s - t0_s, all),
    ...stateRows(input, wakes, t0_s, t1_s, all),
  ];
  rows.sort((a, b) => b.wait - a.wait || (a.key < b.key ? -1 : 1));
  const large = rows.filter(({ share }) => share >= LEAST_SHARE);
  const shown = rows.length > large.length + 1 ? large : rows;
  const [parks, calls] = [locks.parks.map(rowOfLock), locks.calls.map(rowOfLock)];
  return { ...rest, ...machine, rows: shown, small: rows.slice(shown.length), parks, calls };
}

function rowOfLock(lock: LockRow): WaitRow {
  const { name, kind, wait, share, waits_per_s, mean_s, waiters, role, by, estimated } = lock;
  const figures = { wait, share, waits_per_s, mean_s, waiters, role, by, estimated };
  const states: readonly StateId[] = lock.count > 1 ? ["futex"] : [];
  return { ...HERE, key: `lock:${lock.lock}`, name, kind, lock, states, ...figures };
}

/** Part of a role's waiting for each other that known locks must explain for it to have no row. */
const EXPLAINED = 0.5;

/** Roles whose threads wait for each other at something that is not known, such as a JVM's lock. */
function eachOtherRows(
  roles: ReadonlySet<string>,
  wakes: () => WakesView,
  locks: readonly LockRow[],
  all: number,
): readonly WaitRow[] {
  if (roles.size === 0) return [];
  const { edges, nodes } = wakes();
  return [...roles].flatMap((role): readonly WaitRow[] => {
    const key = `role:${role}`;
    const edge = ownWakes(edges, key)?.edge;
    const named = locks.reduce((sum, lock) => sum + (lock.role === role ? lock.wait : 0), 0);
    if (!edge || named >= EXPLAINED * edge.blocked) return [];
    const { blocked: wait, blocked_s: mean_s, per_s: waits_per_s } = edge;
    const waiters = nodes.find((node) => node.key === key)?.threads ?? Number.NaN;
    const figures = { wait, share: wait / all, waits_per_s, mean_s, waiters, estimated: false };
    const what = { key: `each-other:${role}`, name: "each other", kind: "unknown" } as const;
    return [{ ...HERE, ...what, lock: null, states: ["futex"], ...figures, role, by: role }];
  });
}

const OF_CPU = { kind: "cpu", lock: null, states: CPU_STATES, by: "", estimated: false } as const;
const LIMIT = "CPU limit of the control group";
const UNKNOWN = { waits_per_s: Number.NaN, mean_s: Number.NaN, waiters: Number.NaN };

function takerRows({ rows }: TakersView, all: number): readonly WaitRow[] {
  return rows.map(({ key, name, where, detail, delay, threads, role }): WaitRow => {
    const shown = key === "own" ? "other threads of this process" : name;
    const figures = { ...UNKNOWN, wait: delay, share: delay / all, waiters: threads, role };
    return { ...OF_CPU, ...figures, key: `cpu:${key}`, name: shown, where, detail };
  });
}

/**
 * The CPU limit where threads have no state for it: the group's throttled time, summed over CPUs,
 * which the waits for CPUs contain.
 */
function limitRows(
  { model }: ViewInput,
  cgroup: CgroupView | null,
  seconds: number,
  all: number,
): readonly WaitRow[] {
  if (model.states.throttling || cgroup === null || cgroup.throttled_share <= 0) return [];
  const { throttled, throttled_share: wait } = cgroup;
  const figures = { ...UNKNOWN, wait, share: wait / all, waits_per_s: throttled / seconds };
  return [{ ...HERE, ...OF_CPU, ...figures, key: "cpu:limit", name: LIMIT, role: "" }];
}

/**
 * Groups of states that are waits for somebody else or for a limit; locks and system calls have rows
 * of their own.
 */
const GROUPS: readonly StateGroup[] = ["throttled", "disk", "network", "pipes", "faults", "other"];

/** States by number that make a row, and the one that names it: with or without the disk. */
const ROW_STATES: ReadonlyMap<number, StateId> = new Map(
  STATES.filter(
    ({ id, group, idle }) => GROUPS.includes(group) && !idle && id !== "other_call",
  ).map(({ number, id }) => [
    number,
    id === "page_fault_disk" ? id : (id.replace(/_disk$/, "") as StateId),
  ]),
);

interface StateSums {
  readonly role: string;
  readonly named: StateId;
  readonly threads: Set<number>;
  seconds: number;
  count: number;
}

function stateRows(
  input: ViewInput,
  wakes: () => WakesView,
  t0_s: number,
  t1_s: number,
  all: number,
): readonly WaitRow[] {
  const sums = stateSums(input, t0_s, t1_s);
  const { sending } = queuesView(input);
  const seconds = t1_s - t0_s;
  return Array.from(sums, ([key, { role, named, threads, seconds: waited, count }]): WaitRow => {
    const state = STATES.find(({ id }) => id === named);
    const group = state?.group ?? "other";
    const peers = group === "network" || group === "pipes";
    const peer = peers ? peerOf(wakes(), `role:${role}`) : null;
    const reader = named === "socket_send" ? readerOf(input, sending, threads) : "";
    const both = STATES.flatMap(({ number, id }) => (ROW_STATES.get(number) === named ? [id] : []));
    return {
      ...HERE,
      key: `state:${key}`,
      name: group === "throttled" ? LIMIT : (state?.name ?? named),
      kind: group,
      lock: null,
      states: both,
      wait: waited / seconds,
      share: waited / seconds / all,
      waits_per_s: count / seconds,
      mean_s: count > 0 ? waited / count : Number.NaN,
      waiters: threads.size,
      role,
      by: reader || (peer?.name ?? ""),
      estimated: false,
    };
  });
}

/** Reader of the fullest connections of some threads' processes; "" if none are full. */
function readerOf(
  { model }: ViewInput,
  sending: readonly SendQueue[],
  threads: ReadonlySet<number>,
): string {
  const pids = new Set(Array.from(threads, (tid) => model.threads.byTid.get(tid)?.process?.pid));
  // In a target of one process, no thread has one.
  return sending.find(({ pid }) => pids.has(undefined) || pids.has(pid))?.reader ?? "";
}

/** Time of threads in the states of rows, by role and row. */
function stateSums(input: ViewInput, t0_s: number, t1_s: number): ReadonlyMap<string, StateSums> {
  const { model, filter } = input;
  const stretches = model.states.history.between(t0_s, t1_s);
  const sums = new Map<string, StateSums>();
  const at = (thread: Thread, named: StateId): StateSums => {
    const key = `${named} ${thread.role}`;
    const held = sums.get(key);
    if (held) return held;
    const fresh = { role: thread.role, named, threads: new Set<number>(), seconds: 0, count: 0 };
    sums.set(key, fresh);
    return fresh;
  };
  const threads = model.threads.byTid;
  for (const thread of threads.values()) {
    if (!filter.fits(thread) || lifeWithin(model, thread, t0_s, t1_s) <= 0) continue;
    const states = statesWithin(model.states, stretches, thread);
    for (const [number, named] of ROW_STATES) {
      const seconds = states?.[number] ?? 0;
      if (seconds <= 0) continue;
      const sum = at(thread, named);
      sum.seconds += seconds;
      sum.threads.add(thread.tid);
    }
  }
  const { stays } = model.facts;
  const window = stays.window(t0_s, t1_s);
  for (const slot of stays.all()) {
    const named = ROW_STATES.get(stateNumbered(stays.key(slot, STAYS.state))?.number ?? 0);
    const thread = threads.get(stays.key(slot, STAYS.tid));
    if (!named || !thread || !filter.fits(thread)) continue;
    const sum = sums.get(`${named} ${thread.role}`);
    if (sum) sum.count += stays.grown(window, slot, STAYS.count);
  }
  return sums;
}
