/** Evidence of a program in which nothing stands out, and parts of one in which something does. */

import { expect } from "vitest";
import type { LockKind } from "../stream/facts/lockNames";
import type { Evidence, LockEvidence, RoleTimes, Rule, TimesOf } from "../stream/findings/finding";
import { ofRules } from "../stream/findings/findings";
import { NO_LIMITS } from "../stream/limits";
import type { LockThread } from "../stream/locks";
import { NO_QUEUES } from "../stream/queues";
import { STATES, type StateId } from "../stream/states";
import type { TakerRow } from "../stream/takers";
import type { WakeEdge, WakeNode } from "../stream/wakes";

/** Length of the window, in seconds. */
export const SECONDS = 60;

export const NOTHING: Evidence = {
  seconds: SECONDS,
  ends_s: SECONDS,
  ledger: true,
  roles: [],
  saturated: [],
  loops: [],
  locks: [],
  gil: [],
  stuck: [],
  titled: [],
  wakes: { state: "ok", reason: "", seconds: SECONDS, nodes: [], edges: [], omitted: 0 },
  takers: {
    ...{ state: "ok", reason: "", seconds: SECONDS, rows: [], delay: 0 },
    ...{ cgroup: null, steal: 0, omitted: 0 },
  },
  cgroup: null,
  limits: NO_LIMITS,
  goroutines: { state: "absent", seconds: 0, all: 0, rows: [] },
  queues: NO_QUEUES,
  asking: [],
  cohorts: [],
  go: false,
  grouped: false,
};

/** Sentences of a rule, each of whose findings has three numbers that are known and differ. */
export function texts(
  rule: Rule,
  evidence: Partial<Evidence>,
  shown: readonly string[] = [],
): string[] {
  return ofRules([rule], { ...NOTHING, ...evidence }, shown).map(({ text, also, numbers }) => {
    expect(new Set(numbers.map(({ what }) => what)).size).toBe(3);
    expect(numbers.every(({ value }) => /\d/.test(value))).toBe(true);
    return also ? text.replace(/\.$/, `; ${also}.`) : text;
  });
}

export function lockThread(tid: number, wait: number, wakes_per_s = 0): LockThread {
  return {
    ...{ key: `${tid}@0`, tid, name: `worker-${tid}`, role: "worker-#", colour: 0, wait },
    ...{ waits_per_s: 10, mean_s: wait / 10, wakes_per_s },
  };
}

export function lockOf(
  kind: LockKind,
  waiters: readonly LockThread[],
  wakers: readonly LockThread[],
  named = true,
): LockEvidence {
  const wait = waiters.reduce((sum, each) => sum + each.wait, 0);
  const name = named ? "pool_mu" : "lock 1";
  return {
    lock: {
      ...{ lock: 1, name, named, kind, source: "futex", address: 0 },
      ...{ count: 1, symbol_file: named ? "program" : "" },
      ...{ estimated: false, wait, waits_per_s: 80, mean_s: wait / 80, waiters: waiters.length },
      ...{ share: 0.1, role: "worker-#", by: "worker-#", trend: new Float32Array(0) },
    },
    waiters,
    wakers,
  };
}

/** Times of something; states in seconds. */
export function timesOf(
  wall: number,
  more: Partial<TimesOf> = {},
  states: Partial<Record<StateId, number>> = {},
): TimesOf {
  const seconds = new Float64Array(STATES.length + 1);
  for (const { id, number } of STATES) seconds[number] = states[id] ?? 0;
  return {
    ...{ wall, cpu: 0, queue: 0, disk: 0, idle: 0, parked: 0, system: 0, faults: 0 },
    ...{ runs: 0, short_runs: 0, moved: 0 },
    states: seconds,
    ...more,
  };
}

/** A role whose threads live as long as the window. */
export function roleOf(
  name: string,
  threads: number,
  more: Partial<RoleTimes> = {},
  states: Partial<Record<StateId, number>> = {},
): RoleTimes {
  return {
    ...{ key: `role:${name}`, role: name, process: "" },
    ...{ threads, live: threads, born: 0, late: 0, short: 0, short_s: 0, syncing: 0 },
    ...{ unnamed: false, mains: 0, unused: 0 },
    ...timesOf(SECONDS * threads, more, states),
    ...more,
  };
}

export function node(name: string, kind: WakeNode["kind"], gets_per_s = 0): WakeNode {
  const key = kind === "interrupt" ? "interrupt:" : `${kind}:${name}`;
  const place = { where: "", detail: "" };
  return { ...{ key, kind, name, colour: 0, threads: 1, gives_per_s: 0 }, ...place, gets_per_s };
}

export function edge(
  from: string,
  to: string,
  per_s: number,
  more: Partial<WakeEdge> = {},
): WakeEdge {
  return {
    ...{ key: `${from}>${to}`, from, to, per_s, blocked_s: 0, delay_s: 0, blocked: 0 },
    among: more.blocked ?? 0,
    ...more,
  };
}

/** Wake-ups of a window. */
export function wakesOf(nodes: readonly WakeNode[], edges: readonly WakeEdge[]): Partial<Evidence> {
  return { wakes: { ...NOTHING.wakes, nodes, edges } };
}

export function taker(
  kind: TakerRow["kind"],
  delay: number,
  share: number,
  name = "ffmpeg (7)",
): TakerRow {
  const figures = { delay, share, threads: 3, role: "worker-#" };
  return { key: `${kind}:x`, kind, name, where: "", detail: "", ...figures };
}

export function takersOf(...rows: TakerRow[]): Partial<Evidence> {
  return { takers: { ...NOTHING.takers, rows } };
}
