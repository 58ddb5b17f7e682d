/** Waiting for what another thread of the program has: locks, the GIL, and what has no name. */

import { counted, formatDuration, formatNumber, formatValue } from "../format";
import type { GoroutinesView } from "../goroutines";
import type { LockThread } from "../locks";
import { AMONG_SHARE, isEachOther, ownWakes } from "../parked";
import type { StateId } from "../states";
import type { WakesView } from "../wakes";
import {
  type Evidence,
  type Finding,
  IDLE_KINDS,
  inStates,
  isContended,
  type LockEvidence,
  measured,
  nameOfRole,
  percent,
  type RoleTimes,
  type Rule,
  syncInTurns,
} from "./finding";

/** Minimum share of time that each waiter waits. */
const SHARE = 0.1;
const WAITERS = 2;
const WAITS_PER_S = 1;
/** Minimum window with several of a program's own reports, in seconds: they take seconds each. */
const REPORTED_S = 30;
/** Minimum share of the time in which threads could have run, and seconds of waiting a second. */
const GIL_SHARE = 0.25;
const GIL_WAIT = 0.1;

export const LOCK_RULE: Rule = {
  subject: "locks",
  ledger: true,
  find: ({ locks, seconds, roles, wakes, goroutines }, ease) =>
    locks.flatMap((each) => {
      if (isOfGoroutines(each.lock, goroutines)) return [];
      const id = `lock:${each.lock.lock}`;
      const found = each.lock.estimated
        ? reported(each, seconds, ease(id))
        : held(each, seconds, ease(id), roles, wakes);
      return found ? [{ ...found, id }] : [];
    }),
};

/** Whether goroutines that wait for mutexes explain a lock of a Go program: they have a rule. */
function isOfGoroutines({ source, wait }: LockEvidence["lock"], { rows }: GoroutinesView): boolean {
  if (!source.startsWith("go-")) return false;
  const waiting = rows.filter(({ reason }) => reason.startsWith("sync.") && /Lock$/.test(reason));
  return waiting.reduce((sum, { mean }) => sum + mean, 0) >= 0.5 * wait;
}

function held(
  each: LockEvidence,
  seconds: number,
  ease: number,
  roles: readonly RoleTimes[],
  wakes: WakesView,
): Omit<Finding, "id"> | null {
  const { lock, waiters, wakers } = each;
  // Other rules cover waits for work, for an end, and for the interpreter.
  if (!isContended(each)) return null;
  const those = waiters.filter(({ wait }) => wait >= ease * SHARE);
  const wait = those.reduce((sum, each) => sum + each.wait, 0);
  if (those.length < WAITERS || lock.waits_per_s < ease * WAITS_PER_S) return null;
  const share = formatValue(wait / those.length, "share");
  const name = lock.named ? `“${lock.name}”` : `${lock.name} (its name is not known)`;
  const what =
    lock.count > 1
      ? `${lock.name}, which they release to each other: something that few may use at a time`
      : `one lock, ${name}`;
  const work = workOfHolders(wakers, roles, wakes, seconds);
  return {
    text: `${those.length} threads waited ${share} of the time for ${what}.`,
    also: work === "" ? "" : `its holder ${work}`,
    numbers: [
      measured(wait, "threads", "wait on average"),
      measured(lock.waits_per_s, "1/s", "waits a second"),
      measured(lock.mean_s, "s", "a wait on average"),
    ],
    evidence: `Over ${formatDuration(seconds)}. Threshold: ${WAITERS} threads that each wait ${percent(SHARE)} of the time.`,
    advice:
      work === ""
        ? "Hold it for less time, or divide what it protects."
        : "Do that without the lock, or for several waiters at a time.",
    confidence: "measured",
    link: { panel: "waiting", lock: lock.lock },
    weight: wait,
  };
}

/**
 * Main activity of a lock's holders besides waiting for locks, or syncs that they do one at a time;
 * "" if they mostly run.
 */
function workOfHolders(
  wakers: readonly LockThread[],
  roles: readonly RoleTimes[],
  wakes: WakesView,
  window_s: number,
): string {
  const threads = new Set(wakers.flatMap(({ role }) => (role === null ? [] : [role])));
  const own = roles.filter(({ role }) => threads.has(role));
  if (syncInTurns(own, window_s)) return SYNCS;
  const sums = new Map<HolderWork, number>();
  let all = own.reduce((sum, times) => sum + times.cpu, 0);
  for (const [work, states] of HOLDER_STATES) {
    const seconds = own.reduce((sum, times) => sum + inStates(times, ...states), 0);
    sums.set(work, seconds);
    all += seconds;
  }
  const [most, seconds] = [...sums].reduce((a, b) => (b[1] > a[1] ? b : a));
  if (seconds <= 0.5 * all) return "";
  return most === PIPES ? `${most}${enderOf(own, wakes)}` : most;
}

/** Clause for the role that ends waits of other roles, besides their own; "" if there is none. */
function enderOf(own: readonly RoleTimes[], { edges, nodes }: WakesView): string {
  const keys = new Set<string>(own.map(({ key }) => key));
  const ends = edges.filter(({ from, to }) => keys.has(to) && !keys.has(from));
  const [most] = ends.toSorted((a, b) => b.blocked - a.blocked);
  const party = nodes.find(({ key, kind }) => key === most?.from && kind === "role");
  return party ? ` that ${party.name} fills or empties` : "";
}

const PIPES = "waits for a pipe";
const SYNCS = "syncs files";

type HolderWork =
  | typeof PIPES
  | typeof SYNCS
  | "writes files"
  | "reads files"
  | "waits for the network"
  | "sleeps";

const HOLDER_STATES: readonly (readonly [HolderWork, readonly StateId[]])[] = [
  [SYNCS, ["file_sync", "file_sync_disk"]],
  ["writes files", ["file_write", "file_write_disk"]],
  ["reads files", ["file_read", "file_read_disk", "page_fault_disk"]],
  ["waits for the network", ["socket_receive", "socket_send", "socket_connect"]],
  ["sleeps", ["sleep"]],
  [PIPES, ["pipe"]],
];

/**
 * A lock whose waiting time the program itself reports, possibly for waiters other than threads.
 */
function reported(
  { lock }: LockEvidence,
  seconds: number,
  ease: number,
): Omit<Finding, "id"> | null {
  // A report about all locks together has no waits.
  if (IDLE_KINDS.includes(lock.kind) || lock.waits_per_s === 0) return null;
  if (seconds < REPORTED_S || lock.wait < ease * WAITERS * SHARE) return null;
  return {
    text:
      `About ${formatNumber(lock.wait, "threads")} waited on average for one lock, “${lock.name}”, ` +
      "by the program's own account.",
    numbers: [
      measured(lock.wait, "threads", "wait on average"),
      measured(lock.waits_per_s, "1/s", "waits a second"),
      measured(lock.mean_s, "s", "a wait on average"),
    ],
    evidence:
      `Sampled by the program, or from dumps of its threads, over ${formatDuration(seconds)}. ` +
      `Threshold: ${WAITERS * SHARE} on average.`,
    advice: "Hold it for less time, or divide what it protects.",
    confidence: "likely",
    link: { panel: "waiting", lock: lock.lock },
    weight: lock.wait,
  };
}

export const GIL_RULE: Rule = {
  subject: "Python's GIL",
  ledger: true,
  find: ({ gil, locks, seconds }: Evidence, ease) => {
    const lock = locks.find((each) => each.lock.kind === "gil")?.lock;
    const known = gil.filter(({ of_runnable }) => !Number.isNaN(of_runnable));
    if (!lock || known.length < WAITERS) return [];
    const wait = known.reduce((sum, each) => sum + each.wait, 0);
    const runnable = known.reduce((sum, each) => sum + each.wait / each.of_runnable, 0);
    const enough = wait >= ease("gil") * GIL_WAIT && wait / runnable >= ease("gil") * GIL_SHARE;
    if (!enough) return [];
    const share = formatValue(wait / runnable, "share");
    return [
      {
        id: "gil",
        text: `GIL: ${known.length} threads waited for it ${share} of the time in which they could have run.`,
        numbers: [
          measured(wait, "threads", "wait on average"),
          measured(lock.waits_per_s, "1/s", "waits a second"),
          measured(lock.mean_s, "s", "a wait on average"),
        ],
        evidence: `Over ${formatDuration(seconds)}. Threshold: ${percent(GIL_SHARE)}.`,
        advice: "Compute in processes, in code that releases the GIL, or in fewer threads.",
        confidence: "measured",
        link: { panel: "waiting", lock: lock.lock },
        weight: wait,
      },
    ];
  },
};

/** Thresholds of a role whose threads end each other's waits, beside those of isEachOther. */
const AMONG_OF_WALL = 0.4;
const AMONG_S = 0.5e-3;
const AMONG_THREADS = 3;

export const AMONG_RULE: Rule = {
  subject: "threads that wait for each other",
  ledger: true,
  find: (evidence, ease) => {
    const { wakes, roles, seconds, go } = evidence;
    // Go parks its idle threads, which wake each other; its locks are goroutines'.
    if (go) return [];
    return roles.flatMap((times) => {
      const { key } = times;
      const own = ownWakes(wakes.edges, key);
      if (!own) return [];
      const { edge, all } = own;
      const { among: blocked, blocked_s, per_s } = edge;
      const id = `among:${key}`;
      const wall = times.wall / seconds;
      if (!isEachOther({ wall, all, own: blocked }, ease(id))) return [];
      const certain = blocked >= ease(id) * AMONG_OF_WALL * wall && wall >= AMONG_THREADS;
      if (!certain || blocked_s < ease(id) * AMONG_S) return [];
      if (isExplained(evidence, times, blocked)) return [];
      const threads = counted(Math.round(wall), "thread");
      return [
        {
          id,
          text:
            `${threads} of ${nameOfRole(times)} wait for each other: ${formatValue(blocked / wall, "share")} of their time ` +
            `they wait until another of them wakes them, ${formatValue(blocked_s, "s")} each time.`,
          numbers: [
            measured(blocked, "threads", "wait for each other on average"),
            measured(per_s, "1/s", "such wake-ups a second"),
            measured(blocked / all, "share", "of their waiting ends so"),
          ],
          evidence:
            `Over ${formatDuration(seconds)}. ` +
            `Threshold: ${percent(AMONG_SHARE)}, and ${percent(AMONG_OF_WALL)} of their time.`,
          advice:
            "They share something that one of them has at a time: a lock, a row, a connection. Stacks show where they wait.",
          confidence: "likely" as const,
          link: { panel: "wakes" as const, key },
          weight: blocked,
        },
      ];
    });
  },
};

/** Whether locks that are known explain most of a role's waiting. */
function isExplained({ locks }: Evidence, { role }: RoleTimes, blocked: number): boolean {
  let wait = 0;
  for (const each of locks) {
    if (each.lock.kind !== "gil" && !isContended(each)) continue;
    for (const waiter of each.waiters) if (waiter.role === role) wait += waiter.wait;
  }
  return wait >= 0.5 * blocked;
}
