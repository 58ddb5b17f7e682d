/** Main threads, whose name threads have that got none of their own. */

import type { TargetModel } from "../targetModel";
import type { Thread } from "../threads";

/** Main threads: of a group those with their process' ID, else the oldest thread. */
export function mainThreads({ threads }: TargetModel): ReadonlySet<Thread> {
  const found = new Set<Thread>();
  let oldest: Thread | null = null;
  for (const thread of threads.byTid.values()) {
    if (thread.process?.pid === thread.tid) found.add(thread);
    if (oldest === null || isOlder(thread, oldest)) oldest = thread;
  }
  return oldest === null || oldest.process ? found : found.add(oldest);
}

function isOlder(one: Thread, other: Thread): boolean {
  return one.start_ns < other.start_ns || (one.start_ns === other.start_ns && one.tid < other.tid);
}

/**
 * Whether two threads do the same work, as those of a pool. A main thread gives work to threads of
 * its process, or waits for them, even if they have its name.
 */
export function areAlike(one: Thread, other: Thread, main: ReadonlySet<Thread>): boolean {
  if (one.role !== other.role) return false;
  return one.process !== other.process || (!main.has(one) && !main.has(other));
}
