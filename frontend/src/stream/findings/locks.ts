/** Locks that hold up several threads. */

import { formatDuration, formatNumber, formatValue } from "../format";
import { type Evidence, type Finding, type LockEvidence, percent, type Rule } from "./finding";
import { AMONG_THEM, amongThem, IDLE_KINDS } from "./lockUse";

/** Share of its time that each of the waiters waits at least. */
const SHARE = 0.1;
const WAITERS = 2;
const WAITS_PER_S = 1;
/** A program is asked for its own account every 10 s: a window has to have several. */
const REPORTED_S = 30;
/** Of the time in which threads could have run. */
const GIL_SHARE = 0.25;

export const LOCK_RULE: Rule = {
  subject: "locks",
  ledger: true,
  find: ({ locks, seconds }, ease) =>
    locks.flatMap((each) => {
      const id = `lock:${each.lock.lock}`;
      const rule = each.lock.estimated ? reported : held;
      const found = rule(each, seconds, ease(id));
      return found ? [{ ...found, id }] : [];
    }),
};

function held(
  { lock, waiters, wakers }: LockEvidence,
  seconds: number,
  ease: number,
): Omit<Finding, "id"> | null {
  // At these threads wait for work, for an end or for the interpreter: other rules look at them.
  if (lock.kind === "gil" || IDLE_KINDS.includes(lock.kind)) return null;
  if (lock.kind === "unknown" && amongThem({ lock, waiters, wakers }) < AMONG_THEM) return null;
  const those = waiters.filter(({ wait }) => wait >= ease * SHARE);
  const wait = those.reduce((sum, each) => sum + each.wait, 0);
  if (those.length < WAITERS || lock.waits_per_s < ease * WAITS_PER_S) return null;
  const share = formatValue(wait / those.length, "share");
  const name = lock.named ? `“${lock.name}”` : `${lock.name} (its name is not known)`;
  return {
    text: `${those.length} threads waited ${share} of the time for one lock, ${name}.`,
    evidence:
      `${formatNumber(lock.waits_per_s, "1/s")} waits a second, ${formatValue(lock.mean_s, "s")} each, ` +
      `over ${formatDuration(seconds)}. Threshold: ${WAITERS} threads that each wait ${percent(SHARE)} of the time.`,
    link: { panel: "locks", lock: lock.lock },
    weight: wait,
  };
}

/** A lock of which the program itself says how long it was waited for, perhaps by what is no thread. */
function reported(
  { lock }: LockEvidence,
  seconds: number,
  ease: number,
): Omit<Finding, "id"> | null {
  // An account of all locks together has no waits.
  if (IDLE_KINDS.includes(lock.kind) || lock.waits_per_s === 0) return null;
  if (seconds < REPORTED_S || lock.wait < ease * WAITERS * SHARE) return null;
  return {
    text:
      `About ${formatValue(lock.wait, "s")} of waiting a second for one lock, “${lock.name}”, ` +
      "by the program's own account.",
    evidence:
      `Sampled by the program, or from dumps of its threads, over ${formatDuration(seconds)}. ` +
      `Threshold: ${formatValue(WAITERS * SHARE, "s")} a second.`,
    link: { panel: "locks", lock: lock.lock },
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
    if (!(wait / runnable >= ease("gil") * GIL_SHARE)) return [];
    const share = formatValue(wait / runnable, "share");
    return [
      {
        id: "gil",
        text: `GIL: ${known.length} threads waited for it ${share} of the time in which they could have run.`,
        evidence:
          `${formatNumber(lock.waits_per_s, "1/s")} waits a second, ${formatValue(wait, "s")} of waiting ` +
          `a second, over ${formatDuration(seconds)}. Threshold: ${percent(GIL_SHARE)}.`,
        link: { panel: "locks", lock: lock.lock },
        weight: wait,
      },
    ];
  },
};
