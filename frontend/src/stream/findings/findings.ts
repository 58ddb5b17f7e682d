/** Findings: notable observations within the visible window, in words. */

import type { ViewInput } from "../chartView";
import type { FactsState } from "../facts/parties";
import { counted, formatDuration, formatNumber, formatValue } from "../format";
import { finished, type Steps } from "../steps";
import { evidenceSteps } from "./evidence";
import {
  AMONG_THEM,
  amongThem,
  type Evidence,
  type Finding,
  IDLE_KINDS,
  type LockEvidence,
  percent,
  type Rule,
} from "./finding";
import { DISK_RULE, IDLE_POOL_RULE, LITTLE_WORK_RULE, SATURATED_RULE } from "./work";

export interface FindingsView extends FactsState {
  /** Length of the window evaluated, in seconds. */
  readonly seconds: number;
  readonly findings: readonly Finding[];
  /** Examined subjects, and subjects that could not be examined. */
  readonly looked_at: readonly string[];
  readonly not_looked_at: readonly string[];
  readonly not_reason: string;
}

/** Minimum window for findings, in seconds. */
const MIN_S = 5;
const MAX_FINDINGS = 8;
/** Hysteresis: a shown finding stays until below this share of its thresholds. */
const EASE = 0.8;

/**
 * Apply all rules.
 * @param shown IDs of the findings shown, in order: kept in place, new ones follow.
 */
export function findingsView(input: ViewInput, shown: readonly string[]): FindingsView {
  return finished(findingsSteps(input, shown));
}

/** `findingsView` in steps. */
export function* findingsSteps(input: ViewInput, shown: readonly string[]): Steps<FindingsView> {
  const evidence = yield* evidenceSteps(input);
  const looking = RULES.filter((rule) => evidence.ledger || !rule.ledger);
  const waiting = !(evidence.seconds >= MIN_S);
  return {
    state: waiting ? "waiting" : "ok",
    reason: "",
    seconds: evidence.seconds,
    findings: waiting ? [] : found(looking, evidence, shown),
    looked_at: looking.map(({ subject }) => subject),
    not_looked_at: RULES.filter((rule) => !looking.includes(rule)).map(({ subject }) => subject),
    not_reason: evidence.ledger ? "" : (input.target?.source.ledger_reason ?? ""),
  };
}

/** Findings of the rules by weight; shown findings keep their place. */
export function found(
  rules: readonly Rule[],
  evidence: Evidence,
  shown: readonly string[],
): readonly Finding[] {
  const ease = (id: string): number => (shown.includes(id) ? EASE : 1);
  const all = rules.flatMap((rule) => rule.find(evidence, ease));
  const placeOf = ({ id }: Finding): number => {
    const place = shown.indexOf(id);
    return place < 0 ? shown.length : place;
  };
  all.sort((a, b) => placeOf(a) - placeOf(b) || b.weight - a.weight || (a.id < b.id ? -1 : 1));
  return all.slice(0, MAX_FINDINGS);
}

const THROTTLED = 0.05;
const PERIODS = 20;
/**
 * Minimum waiting behind one other process, in thread-seconds per second, and its minimum share of
 * all such waiting.
 */
const DELAY = 0.1;
const DELAY_SHARE = 0.3;

export const THROTTLING_RULE: Rule = {
  subject: "the CPU limit of the control group",
  ledger: false,
  find: ({ cgroup }, ease) => {
    if (!cgroup || cgroup.limit === null || cgroup.periods < PERIODS) return [];
    const share = cgroup.throttled / cgroup.periods;
    if (!(share >= ease("throttling") * THROTTLED)) return [];
    const { gomaxprocs, limit } = cgroup;
    const above = gomaxprocs !== null && gomaxprocs > limit;
    const limitText = `CPU limit ${formatValue(limit, "cores")}`;
    return [
      {
        id: "throttling",
        text:
          `${above ? `GOMAXPROCS ${gomaxprocs}, ` : ""}${limitText}: ` +
          `throttled in ${formatValue(share, "share")} of periods.`,
        evidence:
          `${counted(cgroup.throttled, "period")} of ${cgroup.periods} throttled, ` +
          `${formatValue(cgroup.throttled_share, "s")} a second in all. ` +
          `Threshold: ${percent(THROTTLED)} of at least ${PERIODS} periods.`,
        link: { panel: "takers" },
        weight: cgroup.throttled_share,
      },
    ];
  },
};

export const TAKEN_CPU_RULE: Rule = {
  subject: "run-queue delay by other processes",
  ledger: true,
  find: ({ takers, seconds }, ease) =>
    takers.rows.flatMap(({ key, kind, name, delay, share, threads }) => {
      const id = `taker:${key}`;
      if (kind !== "process" && kind !== "kernel") return [];
      if (delay < ease(id) * DELAY || share < ease(id) * DELAY_SHARE) return [];
      const what = kind === "process" ? `Process ${name}` : `Kernel thread ${name}`;
      return [
        {
          id,
          text:
            `${what} ran while ${counted(threads, "thread")} of this process could have run: ` +
            `${formatValue(delay, "s")} a second, ${formatValue(share, "share")} of its run-queue delay.`,
          evidence: `Over ${formatDuration(seconds)}. Threshold: ${DELAY} s a second and ${percent(DELAY_SHARE)} of the delay.`,
          link: { panel: "takers" },
          weight: delay,
        },
      ];
    }),
};

/** Minimum share of time that each waiter waits. */
const SHARE = 0.1;
const WAITERS = 2;
const WAITS_PER_S = 1;
/** Minimum window with several of a program's own reports, in seconds: one arrives every 10 s. */
const REPORTED_S = 30;
/** Minimum share of the time in which threads could have run. */
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
  // At these locks threads wait for work, for an end or for the interpreter: other rules cover
  // them.
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

/**
 * A lock whose waiting time the program itself reports, possibly for waiters other than threads.
 */
function reported(
  { lock }: LockEvidence,
  seconds: number,
  ease: number,
): Omit<Finding, "id"> | null {
  // A report about all locks together has no waits.
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

const RULES: readonly Rule[] = [
  LOCK_RULE,
  GIL_RULE,
  THROTTLING_RULE,
  TAKEN_CPU_RULE,
  LITTLE_WORK_RULE,
  DISK_RULE,
  IDLE_POOL_RULE,
  SATURATED_RULE,
];
