/** What threads do at a lock: wait for each other, or for work. */

import type { LockKind } from "../facts/lockNames";
import type { LockEvidence } from "./finding";

/** Waiting at these is being idle, or waiting for an end. */
export const IDLE_KINDS: readonly LockKind[] = ["park", "condition", "join"];

/** Of wake-ups at a lock, those by threads that wait for it too: so it is with a lock, not with a queue. */
export const AMONG_THEM = 0.8;

/** Part of the wake-ups at a lock that come from threads which wait for it themselves. */
export function amongThem({ waiters, wakers }: LockEvidence): number {
  const waiting = new Set(waiters.map(({ tid }) => tid));
  let all = 0;
  let among = 0;
  for (const { tid, wakes_per_s } of wakers) {
    all += wakes_per_s;
    if (waiting.has(tid)) among += wakes_per_s;
  }
  return all > 0 ? among / all : 0;
}
