/**
 * Who a row of a table is of: a role of the target, another process, a kernel thread, or an interrupt.
 * Tables name threads by id; their names are those of the model.
 */

import { roleOf } from "../role";
import type { TargetModel } from "../targetModel";
import { roleColour, type Thread } from "../threads";
import type { ThreadKey } from "../viewRequest";

export type PartyKind = "role" | "process" | "kernel" | "interrupt";

/** A role, or all that has one name outside of the target. */
export interface Party {
  /** "role:NAME" of a role, as elsewhere. */
  readonly key: ThreadKey;
  readonly kind: PartyKind;
  readonly name: string;
  /** `colourStyle` of chart/palette.ts draws it; null outside of the target. */
  readonly colour: number | null;
}

/** Threads under the id 0: they ended, had no room in the collector's slots, or were never named. */
export const UNKNOWN_NAME = "ended or unknown";

/** All threads that are known, by id; of several that had one id the last. */
export function threadsByTid(model: TargetModel): ReadonlyMap<number, Thread> {
  const threads = new Map<number, Thread>();
  for (const thread of model.threads.ended) threads.set(thread.tid, thread);
  for (const thread of model.threads.live.values()) threads.set(thread.tid, thread);
  return threads;
}

/** Role of a thread of the target. */
export function rolePartyOf(thread: Thread | undefined): Party {
  if (!thread) return { key: "role:", kind: "role", name: UNKNOWN_NAME, colour: null };
  const { role, hue } = thread;
  return { key: `role:${role}`, kind: "role", name: role, colour: roleColour(hue) };
}

/** What is not of the target: its kind and its name say which; digits in names of threads do not. */
export function foreignParty(pid: number, kernel: boolean, name: string): Party {
  if (pid === 0) return { key: "interrupt:", kind: "interrupt", name: "interrupts", colour: null };
  const kind = kernel ? "kernel" : "process";
  const shown = (kernel ? roleOf(name) : name) || `process ${pid}`;
  return { key: `${kind}:${shown}`, kind, name: shown, colour: null };
}

/** In words, for tables and readers. */
export const PARTY_WORDS: Readonly<Record<PartyKind, string>> = {
  role: "role",
  process: "other process",
  kernel: "kernel thread",
  interrupt: "interrupts and timers",
};
