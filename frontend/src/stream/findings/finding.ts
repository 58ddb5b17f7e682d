/** A finding, and the evidence that rules evaluate. */

import type { LockKind } from "../facts/parties";
import { formatPercent } from "../format";
import type { LocksView, LockThread } from "../locks";
import type { CgroupView, TakersView } from "../takers";
import type { ThreadKey } from "../viewRequest";
import type { WakePartner, WakesView } from "../wakes";

/** Place in the page that shows the data of a finding. */
export type FindingLink =
  | { readonly panel: "locks"; readonly lock: number }
  | { readonly panel: "wakes"; readonly key: ThreadKey }
  | { readonly panel: "takers" }
  | { readonly panel: "times"; readonly key: ThreadKey };

/** A notable observation with its evidence. */
export interface Finding {
  /** Rule and subject: a recurring finding keeps its ID. */
  readonly id: string;
  /** One sentence with its figures. */
  readonly text: string;
  /** The measured value and its threshold. */
  readonly evidence: string;
  readonly link: FindingLink;
  /** Thread-seconds per second concerned; larger weights are listed first. */
  readonly weight: number;
}

/** Times of threads within the window, in seconds; NaN if unknown. */
export interface TimesOf {
  readonly wall: number;
  readonly cpu: number;
  /** Runnable, not running. */
  readonly queue: number;
  /** Waiting for a disk. */
  readonly disk: number;
  /** Idle by nature: polling, sleeping, accepting, parked. Needs the ledger. */
  readonly idle: number;
}

export interface ThreadTimes extends TimesOf {
  readonly key: ThreadKey;
  readonly tid: number;
  readonly name: string;
  readonly role: string;
  /** The thread's process in a group, such as "nginx (4711)"; else "". */
  readonly process: string;
}

export interface RoleTimes extends TimesOf {
  readonly key: ThreadKey;
  readonly role: string;
  /** In a group, the process or the number of processes with its threads; else "". */
  readonly process: string;
  /** Number of threads that lived within the window. */
  readonly threads: number;
}

export interface LockEvidence {
  readonly lock: LocksView["locks"][number];
  readonly waiters: readonly LockThread[];
  readonly wakers: readonly LockThread[];
}

/** Measurements of a window. */
export interface Evidence {
  /** Length of the window, in seconds. */
  readonly seconds: number;
  /** Whether a state ledger was kept. */
  readonly ledger: boolean;
  readonly roles: readonly RoleTimes[];
  /** Threads that ran nearly all the time, and the threads each one wakes. */
  readonly saturated: readonly {
    readonly thread: ThreadTimes;
    readonly wakees: readonly WakePartner[];
  }[];
  readonly locks: readonly LockEvidence[];
  readonly gil: LocksView["gil"];
  readonly wakes: WakesView;
  readonly takers: TakersView;
  readonly cgroup: CgroupView | null;
}

/** A rule that derives findings from evidence. Pure. */
export interface Rule {
  /** Subject, for the list of examined subjects: "locks". */
  readonly subject: string;
  /** Requires the ledger; skipped without one. */
  readonly ledger: boolean;
  /**
   * @param ease Factor on a finding's thresholds: below 1 for a finding already shown (hysteresis).
   */
  readonly find: (evidence: Evidence, ease: (id: string) => number) => readonly Finding[];
}

export function withProcess(name: string, process: string): string {
  return process === "" ? name : `${name} of ${process}`;
}

/** A threshold as text: whole percent. */
export function percent(share: number): string {
  return formatPercent(share);
}

/** Lock kinds where waiting means idle, or waiting for an end. */
export const IDLE_KINDS: readonly LockKind[] = ["park", "condition", "join"];

/** Minimum share of wake-ups by threads that also wait: typical of a lock, not of a queue. */
export const AMONG_THEM = 0.8;

/** Share of a lock's wake-ups by threads that also wait for the lock. */
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
