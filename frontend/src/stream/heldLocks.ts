/** Waits under way for locks that somebody holds: tables of ended waits lack them. */

import { HOLDERS } from "./facts/facts";
import { currentStay } from "./parked";
import { FUTEX } from "./states";
import type { TargetModel } from "./targetModel";
import type { Thread } from "./threads";

/** A wait that lasts at the end of a window. */
export interface HeldWait {
  readonly thread: Thread;
  readonly lock: number;
  /** ID of the thread that holds the lock, or 0 if unknown. */
  readonly holder: number;
  readonly since_s: number;
}

export function heldWaits(model: TargetModel, t0_s: number, t1_s: number): readonly HeldWait[] {
  const { holders } = model.facts;
  const stretches = model.states.history.between(t0_s, t1_s);
  const waits: HeldWait[] = [];
  for (const slot of holders.all()) {
    const thread = model.threads.byTid.get(holders.key(slot, HOLDERS.tid));
    if (!thread || !holders.isThere(slot)) continue;
    const stay = currentStay(model.states, stretches, thread);
    if (stay?.state !== FUTEX) continue;
    const lock = holders.key(slot, HOLDERS.lock);
    const holder = holders.fact(slot, HOLDERS.holder);
    waits.push({ thread, lock, holder, since_s: stay.since_s });
  }
  return waits;
}
