/** Findings: what stands out within the window in view, in words. */

import type { ViewInput } from "../chartView";
import type { FactsState } from "../facts/state";
import { finished, type Steps } from "../steps";
import { TAKEN_CPU_RULE, THROTTLING_RULE } from "./cpu";
import { evidenceSteps } from "./evidence";
import type { Evidence, Finding, Rule } from "./finding";
import { GIL_RULE, LOCK_RULE } from "./locks";
import { DISK_RULE, IDLE_POOL_RULE, LITTLE_WORK_RULE, SATURATED_RULE } from "./work";

export interface FindingsView extends FactsState {
  /** Length of the window that they hold for, seconds. */
  readonly seconds: number;
  readonly findings: readonly Finding[];
  /** What was looked at, and what could not be. */
  readonly looked_at: readonly string[];
  readonly not_looked_at: readonly string[];
  readonly not_reason: string;
}

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

/** A shorter window says too little. */
const MIN_S = 5;
const MOST = 8;
/** What is shown stays until it is this far below its thresholds. */
const EASE = 0.8;

/**
 * Apply all rules.
 *
 * @param shown Ids of findings that are shown, in their order: it stays, new ones follow.
 */
export function findingsView(input: ViewInput, shown: readonly string[]): FindingsView {
  return finished(findingsSteps(input, shown));
}

/** The same in steps. */
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

/** What rules find in evidence, weightiest first; what is shown keeps its place. */
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
  return all.slice(0, MOST);
}
