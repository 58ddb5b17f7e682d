/** What a finding is, and what rules judge by. */

import type { LockKind } from "../facts/lockNames";
import { formatPercent } from "../format";
import type { LocksView, LockThread } from "../locks";
import type { CgroupView, TakersView } from "../takers";
import type { ThreadKey } from "../viewRequest";
import type { WakePartner, WakesView } from "../wakes";

/** Where the page shows what a finding says. */
export type FindingLink =
  | { readonly panel: "locks"; readonly lock: number }
  | { readonly panel: "wakes"; readonly key: ThreadKey }
  | { readonly panel: "takers" }
  | { readonly panel: "times"; readonly key: ThreadKey };

/** One thing that stands out, with its evidence. */
export interface Finding {
  /** Rule and subject: the same finding later has the same. */
  readonly id: string;
  /** One sentence with its figures. */
  readonly text: string;
  /** What was measured, and from which value on it is said. */
  readonly evidence: string;
  readonly link: FindingLink;
  /** Thread-seconds a second that it is about: the larger, the higher it stands. */
  readonly weight: number;
}

/** Times of threads within the window, seconds; NaN: not known. */
export interface TimesOf {
  readonly wall: number;
  readonly cpu: number;
  /** Runnable without running. */
  readonly queue: number;
  /** Waiting for a disk. */
  readonly disk: number;
  /** Idle by nature: polling, sleeping, accepting, parked. Only the ledger knows. */
  readonly idle: number;
}

export interface ThreadTimes extends TimesOf {
  readonly key: ThreadKey;
  readonly tid: number;
  readonly name: string;
  readonly role: string;
  /** In a group: its process, such as "nginx (4711)"; else "". */
  readonly process: string;
}

export interface RoleTimes extends TimesOf {
  readonly key: ThreadKey;
  readonly role: string;
  /** In a group: its process, or how many processes have threads of it; else "". */
  readonly process: string;
  /** Threads that lived within the window. */
  readonly threads: number;
}

/** A lock with its threads. */
export interface LockEvidence {
  readonly lock: LocksView["locks"][number];
  readonly waiters: readonly LockThread[];
  readonly wakers: readonly LockThread[];
}

/** What is known of a window. */
export interface Evidence {
  /** Length of the window, seconds. */
  readonly seconds: number;
  /** Whether a ledger of states was kept. */
  readonly ledger: boolean;
  readonly roles: readonly RoleTimes[];
  /** Threads that ran nearly all the time, and whom they wake. */
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

/** A rule: what it finds in evidence. Pure. */
export interface Rule {
  /** What it looks at, for the list of what was looked at: "locks". */
  readonly subject: string;
  /** It needs the ledger; without one it looks at nothing. */
  readonly ledger: boolean;
  /**
   * @param ease Factor on the thresholds of a finding: below 1 for one that is shown, so that it does
   *   not come and go.
   */
  readonly find: (evidence: Evidence, ease: (id: string) => number) => readonly Finding[];
}

/** A name with the process that it is of. */
export function withProcess(name: string, process: string): string {
  return process === "" ? name : `${name} of ${process}`;
}

/** A threshold as text: whole percent. */
export function percent(share: number): string {
  return formatPercent(share);
}

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
