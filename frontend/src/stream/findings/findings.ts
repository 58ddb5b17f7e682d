/** Findings: notable observations within the visible window, in words. */

import type { ViewInput } from "../chartView";
import type { FactsState } from "../facts/parties";
import type { Steps } from "../steps";
import { ASKING_RULE } from "./asking";
import { COHORT_RULE } from "./cohorts";
import { AMONG_RULE, GIL_RULE, LOCK_RULE } from "./contention";
import { OWN_DELAY_RULE, TAKEN_CPU_RULE, THROTTLING_RULE } from "./cpu";
import { DIPS, DipFinder } from "./dips";
import { evidenceSteps } from "./evidence";
import { EASE, type Evidence, type Finding, type Rule } from "./finding";
import { GOROUTINE_RULE } from "./goroutines";
import { COLLECTOR_RULE, GROWTH_RULE, STORM_RULE } from "./life";
import { LOOP_CALL_RULE } from "./loopCalls";
import { EVENT_LOOP_RULE, SATURATED_RULE } from "./loops";
import { PartFinder } from "./parts";
import { POLLING_RULE } from "./polling";
import { ACCEPT_RULE, FILE_LOCK_RULE } from "./queues";
import { STOP_RULE } from "./stops";
import { DEADLOCK_RULE, KEPT_RULE, UNRELEASED_RULE } from "./stuck";
import { TITLE_RULE } from "./titles";
import { DISK_RULE, FAULTS_RULE, MEMORY_RULE, NETWORK_RULE } from "./waits";
import { FULL_POOL_RULE, IDLE_POOL_RULE, LITTLE_WORK_RULE, TOGETHER_RULE } from "./work";

export interface FindingsView extends FactsState {
  /** Length of the window evaluated, in seconds. */
  readonly seconds: number;
  /** Unix time of the attach, in ms. */
  readonly zero_ms: number;
  readonly findings: readonly Finding[];
  /** Examined subjects, and subjects that could not be examined. */
  readonly looked_at: readonly string[];
  readonly not_looked_at: readonly NotExamined[];
}

/** A subject that could not be examined, and why. */
export interface NotExamined {
  readonly subject: string;
  readonly reason: string;
}

/** Minimum window for findings, in seconds. */
const MIN_S = 5;
const MAX_FINDINGS = 8;
/** How much more must be at stake for a finding to overtake a shown one. */
const CLEARLY = 1.5;

/** Applies all rules to a target, again and again. */
export class FindingsMaker {
  /** IDs of the findings shown, in order: kept in place, new ones follow. */
  private shown: readonly string[] = [];
  private readonly parts = new PartFinder();
  private readonly dips = new DipFinder();

  *make(input: ViewInput): Steps<FindingsView> {
    const evidence = yield* evidenceSteps(input);
    const { looking, lacking } = divided(evidence, input.target?.source.ledger_reason ?? "");
    const waiting = !(evidence.seconds >= MIN_S);
    const whole = waiting ? [] : ofRules(looking, evidence, this.shown);
    const timed = yield* this.parts.find(input, looking, whole);
    const dips = waiting ? null : yield* this.dips.find(input, looking);
    const ids = new Set(timed.map(({ id }) => id));
    const all = [...(dips ?? []), ...timed, ...whole.filter(({ id }) => !ids.has(id))];
    const findings = ranked(all, this.shown).slice(0, MAX_FINDINGS);
    this.shown = findings.map(({ id }) => id);
    return {
      state: waiting ? "waiting" : "ok",
      reason: "",
      seconds: evidence.seconds,
      zero_ms: (input.target?.attached_unix_us ?? 0) / 1000,
      findings,
      looked_at: [...looking.map(({ subject }) => subject), ...(dips ? [DIPS] : [])],
      not_looked_at: lacking,
    };
  }
}

/** Rules whose subjects can be examined, and the other subjects that the program has. */
function divided(evidence: Evidence, ledger_reason: string) {
  const looking: Rule[] = [];
  const lacking: NotExamined[] = [];
  for (const rule of RULES) {
    const lacks = rule.lacks ? rule.lacks(evidence) : "";
    const reason = rule.ledger && !evidence.ledger ? ledger_reason || NO_LEDGER : lacks;
    if (reason === "") looking.push(rule);
    else if (reason !== null) lacking.push({ subject: rule.subject, reason });
  }
  return { looking, lacking };
}

const NO_LEDGER = "they need the ledger of states";

/** @param shown IDs of the findings shown, which stay down to eased thresholds. */
export function ofRules(
  rules: readonly Rule[],
  evidence: Evidence,
  shown: readonly string[] = [],
): readonly Finding[] {
  const ease = (id: string): number => (shown.includes(id) ? EASE : 1);
  return rules.flatMap((rule) => rule.find(evidence, ease));
}

/**
 * Order of findings: most thread-seconds at stake first. Shown ones keep their place until one below
 * has clearly more at stake.
 */
export function ranked(findings: readonly Finding[], shown: readonly string[]): readonly Finding[] {
  const placeOf = ({ id }: Finding): number => {
    const place = shown.indexOf(id);
    return place < 0 ? shown.length : place;
  };
  const all = findings.toSorted(
    (a, b) => placeOf(a) - placeOf(b) || b.weight - a.weight || (a.id < b.id ? -1 : 1),
  );
  const ranked: Finding[] = [];
  for (const each of all) {
    let place = ranked.length;
    while (place > 0 && each.weight > CLEARLY * (ranked[place - 1]?.weight ?? 0)) place--;
    ranked.splice(place, 0, each);
  }
  return ranked;
}

const RULES: readonly Rule[] = [
  DEADLOCK_RULE,
  KEPT_RULE,
  UNRELEASED_RULE,
  TITLE_RULE,
  LOCK_RULE,
  AMONG_RULE,
  GOROUTINE_RULE,
  GIL_RULE,
  THROTTLING_RULE,
  TAKEN_CPU_RULE,
  OWN_DELAY_RULE,
  EVENT_LOOP_RULE,
  LOOP_CALL_RULE,
  ACCEPT_RULE,
  FILE_LOCK_RULE,
  SATURATED_RULE,
  TOGETHER_RULE,
  LITTLE_WORK_RULE,
  POLLING_RULE,
  DISK_RULE,
  MEMORY_RULE,
  NETWORK_RULE,
  ASKING_RULE,
  FAULTS_RULE,
  COLLECTOR_RULE,
  STOP_RULE,
  GROWTH_RULE,
  STORM_RULE,
  FULL_POOL_RULE,
  COHORT_RULE,
  IDLE_POOL_RULE,
];
