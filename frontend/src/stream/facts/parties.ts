/**
 * The party of a table row: a role of the target, another process, a kernel thread, or an
 * interrupt. Tables name threads by ID; their names come from the model.
 */

import { roleOf } from "../role";
import type { TargetModel } from "../targetModel";
import { roleColour, type Thread } from "../threads";
import type { ThreadKey } from "../viewRequest";

export type PartyKind = "role" | "process" | "kernel" | "interrupt";

/** A role, or everything with one name outside the target. */
export interface Party {
  /** "role:NAME" of a role, as in other views. */
  readonly key: ThreadKey;
  readonly kind: PartyKind;
  readonly name: string;
  /** Colour for `colourStyle` of chart/palette.ts; null outside the target. */
  readonly colour: number | null;
}

/** Threads under ID 0: ended, without space in the collector's slots, or never named. */
export const UNKNOWN_NAME = "ended or unknown";

/** All known threads by ID; the latest one if an ID was recycled. */
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

/** Party outside the target, identified by kind and name; digits in thread names are ignored. */
export function outsideParty(pid: number, kernel: boolean, name: string): Party {
  if (pid === 0) return { key: "interrupt:", kind: "interrupt", name: "interrupts", colour: null };
  const kind = kernel ? "kernel" : "process";
  const shown = (kernel ? roleOf(name) : name) || `process ${pid}`;
  return { key: `${kind}:${shown}`, kind, name: shown, colour: null };
}

/** Kinds in words, for tables and screen readers. */
export const PARTY_WORDS: Readonly<Record<PartyKind, string>> = {
  role: "role",
  process: "other process",
  kernel: "kernel thread",
  interrupt: "interrupts and timers",
};
