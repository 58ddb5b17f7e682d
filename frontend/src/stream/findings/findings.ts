/** Findings: notable observations within the visible window, in words. */

import type { ViewInput } from "../chartView";
import type { FactsState } from "../facts/parties";
import { finished, type Steps } from "../steps";
import { AMONG_RULE, GIL_RULE, LOCK_RULE } from "./contention";
import { CROWDED_RULE, HERD_RULE, TAKEN_CPU_RULE, THROTTLING_RULE } from "./cpu";
import { evidenceSteps } from "./evidence";
import type { Evidence, Finding, Rule } from "./finding";
import { COLLECTOR_RULE, GROWTH_RULE, STORM_RULE } from "./life";
import { DISK_RULE, FAULTS_RULE, MEMORY_RULE, NETWORK_RULE } from "./waits";
import {
  EVENT_LOOP_RULE,
  FULL_POOL_RULE,
  IDLE_POOL_RULE,
  LITTLE_WORK_RULE,
  SATURATED_RULE,
} from "./work";

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
/** How much more must be at stake for a finding to overtake a shown one. */
const CLEARLY = 1.5;

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

/**
 * Findings of the rules, most thread-seconds at stake first. Shown ones keep their place until one
 * below has clearly more at stake.
 */
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
  const ranked: Finding[] = [];
  for (const each of all) {
    let place = ranked.length;
    while (place > 0 && each.weight > CLEARLY * (ranked[place - 1]?.weight ?? 0)) place--;
    ranked.splice(place, 0, each);
  }
  return ranked.slice(0, MAX_FINDINGS);
}

const RULES: readonly Rule[] = [
  LOCK_RULE,
  AMONG_RULE,
  GIL_RULE,
  THROTTLING_RULE,
  TAKEN_CPU_RULE,
  HERD_RULE,
  CROWDED_RULE,
  EVENT_LOOP_RULE,
  SATURATED_RULE,
  LITTLE_WORK_RULE,
  DISK_RULE,
  MEMORY_RULE,
  NETWORK_RULE,
  FAULTS_RULE,
  COLLECTOR_RULE,
  GROWTH_RULE,
  STORM_RULE,
  FULL_POOL_RULE,
  IDLE_POOL_RULE,
];
