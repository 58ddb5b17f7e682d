/** Waits for locks that do not end: deadlocks, and locks that somebody keeps. */

import { counted, formatDuration } from "../format";
import {
  type Evidence,
  type Finding,
  inStates,
  measured,
  measuredTime,
  type Rule,
  type StuckThread,
  type ThreadTimes,
  withProcess,
} from "./finding";

/** Minimum length of waits that do not end, in seconds. */
const STUCK_S = 10;
/** Names of threads in a sentence; more are counted. */
const NAMED = 3;

/** A thread that is stuck at a lock with a known holder. */
interface Held extends StuckThread {
  readonly holder: ThreadTimes;
}

export const DEADLOCK_RULE: Rule = {
  subject: "deadlocks",
  ledger: true,
  whole: true,
  find: ({ stuck }, ease) => {
    const held = heldOnes(stuck);
    return cyclesOf(held).flatMap((cycle): readonly Finding[] => {
      const [first] = cycle;
      const id = `deadlock:${cycle.map(({ thread }) => thread.tid).join()}`;
      const seconds = shortest(cycle);
      if (!first || seconds < ease(id) * STUCK_S) return [];
      const behind = waitingBehind(held, cycle) - cycle.length;
      const who = cycle.map((each) => `${nameOf(each.thread)} waits for ${lockOf(each)}`);
      const more = behind > 0 ? `; ${counted(behind, "more thread")} wait behind them` : "";
      return [
        {
          id,
          text:
            cycle.length === 1
              ? `Deadlock: ${nameOf(first.thread)} has waited for ${lockOf(first)} for ${formatDuration(seconds)} and holds it itself${more}.`
              : `Deadlock: ${cycle.length} threads have waited in a circle for ${formatDuration(seconds)}: ${who.join(", ")}${more}.`,
          numbers: [
            measured(cycle.length, "count", "threads wait in the circle"),
            measuredTime(seconds, "without an end of a wait"),
            measured(behind, "count", "threads wait behind them"),
          ],
          evidence: `The locks' own words name their holders. Threshold: ${STUCK_S} s.`,
          advice: "Take these locks in one order everywhere. Only a restart ends it.",
          confidence: "measured",
          link: { panel: "times", key: `role:${first.thread.role}` },
          weight: cycle.length + behind,
        },
      ];
    });
  },
};

export const KEPT_RULE: Rule = {
  subject: "locks that are not released",
  ledger: true,
  whole: true,
  find: ({ stuck }, ease) => {
    const held = heldOnes(stuck);
    const locks = new Map<number, Held[]>();
    for (const each of held) {
      // Whoever waits for a lock, too, is not the one that keeps others waiting.
      if (held.some(({ thread }) => thread === each.holder)) continue;
      const lock = each.lock?.lock ?? 0;
      locks.set(lock, [...(locks.get(lock) ?? []), each]);
    }
    return [...locks].flatMap(([lock, waits]): readonly Finding[] => {
      const [first] = waits;
      const id = `kept:${lock}`;
      const seconds = shortest(waits);
      if (!first || seconds < ease(id) * STUCK_S || takesTurns(first.holder)) return [];
      const behind = waitingBehind(held, waits);
      return [
        {
          id,
          text:
            `${counted(behind, "thread")} waited for “${first.lock?.name ?? ""}” for ${formatDuration(seconds)} and longer: ` +
            `${nameOf(first.holder)} holds it and did not release it.`,
          numbers: [
            measured(behind, "count", "threads wait for it or behind it"),
            measuredTime(seconds, "is the shortest wait"),
            measuredTime(longest(waits), "is the longest wait"),
          ],
          evidence: `The lock's own word names its holder, and no wait ended. Threshold: ${STUCK_S} s.`,
          advice: "See what the holder does: its states, and its stack.",
          confidence: "measured",
          link: { panel: "times", key: `role:${first.holder.role}` },
          weight: behind,
        },
      ];
    });
  },
};

/** Number of locks at which threads are stuck, from which a circle is likely. */
const LOCKS = 2;

export const UNRELEASED_RULE: Rule = {
  subject: "locks that nobody releases",
  ledger: true,
  whole: true,
  find: ({ stuck, roles, go }: Evidence, ease) => {
    // Whoever waits for work, an end or a signal waits at no lock that another thread holds.
    const waits = stuck.filter(
      ({ lock, holder, seconds }) =>
        lock !== null && holder === null && seconds >= ease("unreleased") * STUCK_S,
    );
    const locks = new Set(waits.map(({ number }) => number));
    if (go || locks.size < LOCKS) return [];
    const threads = roles.reduce((sum, { live }) => sum + live, 0);
    const all = stuck.length >= threads;
    const seconds = formatDuration(shortest(all ? stuck : waits));
    const names = waits.slice(0, NAMED).map(({ thread }) => nameOf(thread));
    const more = waits.length > NAMED ? ` and ${waits.length - NAMED} more` : "";
    const who = `${names.join(", ")}${more}`;
    return [
      {
        id: "unreleased",
        text: all
          ? `All ${threads} threads have waited at locks for ${seconds}, and none is left to let them go on: ` +
            `a deadlock of ${who}, unless a signal releases their locks.`
          : `${counted(waits.length, "thread")} have waited for ${seconds} for ${locks.size} locks that nobody releases: ` +
            `${who}. It is a deadlock if they hold each other’s.`,
        numbers: [
          measured(waits.length, "count", "threads wait for held locks"),
          measured(locks.size, "count", "locks, held by whom is not known"),
          measuredTime(shortest(waits), "is the shortest wait"),
        ],
        evidence:
          "These locks are held, by whom is not known, and no wait for them ended. " +
          `Threshold: ${STUCK_S} s, ${LOCKS} locks.`,
        advice:
          "Look at the stacks of these threads (py-spy dump, gdb -p). Take locks in one order everywhere.",
        confidence: "likely",
        link: { panel: "times", key: `role:${waits[0]?.thread.role ?? ""}` },
        weight: all ? threads : waits.length,
      },
    ];
  },
};

function heldOnes(stuck: readonly StuckThread[]): readonly Held[] {
  return stuck.flatMap((each) => (each.holder ? [{ ...each, holder: each.holder }] : []));
}

/** Circles of threads, each of which waits for a lock that the next one holds. */
function cyclesOf(held: readonly Held[]): readonly (readonly Held[])[] {
  const byThread = new Map(held.map((each) => [each.thread, each]));
  const seen = new Set<Held>();
  const cycles: Held[][] = [];
  for (const start of held) {
    const path: Held[] = [];
    let at: Held | undefined = start;
    while (at && !seen.has(at)) {
      seen.add(at);
      path.push(at);
      at = byThread.get(at.holder);
    }
    const from = at ? path.indexOf(at) : -1;
    if (from >= 0) cycles.push(path.slice(from));
  }
  return cycles;
}

/** Number of stuck threads that wait for the holders of some locks, directly or behind others. */
function waitingBehind(held: readonly Held[], waits: readonly Held[]): number {
  const found = new Set<ThreadTimes>(waits.map(({ thread }) => thread));
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { thread, holder } of held) if (found.has(holder)) found.add(thread);
  }
  return found.size;
}

/** Whether a thread waits for work with the lock, as threads do that take turns at a door. */
function takesTurns(holder: ThreadTimes): boolean {
  return inStates(holder, "poll", "socket_accept") >= 0.5 * holder.wall;
}

/** Length of the youngest wait, in seconds. */
function shortest(waits: readonly StuckThread[]): number {
  return Math.min(...waits.map(({ seconds }) => seconds));
}

/** Length of the oldest wait, in seconds. */
function longest(waits: readonly StuckThread[]): number {
  return Math.max(...waits.map(({ seconds }) => seconds));
}

function nameOf({ name, tid, process }: ThreadTimes): string {
  return withProcess(`${name} (${tid})`, process);
}

function lockOf({ lock }: StuckThread): string {
  return lock === null ? "a lock" : `“${lock.name}”`;
}
