/** Recommendation of a policy to try first. Pure. */

import type { PolicyInfo } from "../../wire/generated/models";

/**
 * Recommended policies, measured in docs/results and docs/controllers.md; the first available one
 * is used.
 */
const RECOMMENDED: readonly (readonly [name: string, why: string])[] = [
  [
    "cooperative",
    "In experiments with two programs it was faster than the default in both (docs/results).",
  ],
  ["kalman-kg", "Little regret in simulations (docs/controllers.md)."],
];

export interface RankedPolicy {
  readonly policy: PolicyInfo;
  /** Reason of the recommendation; "" if not recommended. */
  readonly recommended: string;
}

/** Policies with the recommended one first, the others in order. */
export function recommendedFirst(policies: readonly PolicyInfo[]): readonly RankedPolicy[] {
  const found = RECOMMENDED.find(([name]) => policies.some((each) => each.name === name));
  const ranked = policies.map((policy) => ({
    policy,
    recommended: policy.name === found?.[0] ? found[1] : "",
  }));
  return ranked.sort((a, b) => Number(b.recommended !== "") - Number(a.recommended !== ""));
}

const SHORT = 5;

/** Short list on the timeline: the recommended policy, the first others, and the current one. */
export function shortList(
  policies: readonly PolicyInfo[],
  current: string | null,
): readonly PolicyInfo[] {
  const ranked = recommendedFirst(policies).map(({ policy }) => policy);
  const shown = ranked.slice(0, SHORT);
  const other = ranked.slice(SHORT).find(({ name }) => name === current);
  return other === undefined ? shown : [...shown.slice(0, SHORT - 1), other];
}
