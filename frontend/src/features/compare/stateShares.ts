/** Time breakdown of each role, by group of runs. Pure. */

import { formatPercent } from "../../stream/format";
import { GROUP_NAMES, type StateGroup } from "../../stream/states";
import type { ComparedMetric } from "../../wire/generated/models";
import { shortLabels } from "./shortLabels";

export interface SharePart {
  readonly group: StateGroup;
  readonly share: number;
}

/** The bars of a role: one per group of runs. */
export interface RoleShares {
  /** Role, or null for the whole process. */
  readonly role: string | null;
  readonly bars: readonly {
    readonly label: string;
    /** Parts, work first, with a sum of at most 1; empty if unknown. */
    readonly parts: readonly SharePart[];
    /** The bar in words, largest first. */
    readonly text: string;
  }[];
}

/** Part of a comparison that is evaluated. */
export interface SharesOf {
  readonly metrics: readonly (Pick<ComparedMetric, "metric" | "role"> & {
    readonly groups: readonly { readonly mean: number | null }[];
  })[];
  readonly groups: readonly { readonly label: string }[];
  readonly roles: readonly { readonly label: string }[];
}

const MAX_ROLES = 8;
const STATE_GROUPS = Object.keys(GROUP_NAMES) as readonly StateGroup[];
/** Minimum visible share in a bar. */
const MIN_SHARE = 0.002;

/** The process, followed by the busiest roles; empty if no run has a state ledger. */
export function stateShares({ metrics, groups, roles }: SharesOf): readonly RoleShares[] {
  const names = [null, ...roles.slice(0, MAX_ROLES).map(({ label }) => label)];
  const labels = shortLabels(groups.map(({ label }) => label));
  return names.flatMap((role): readonly RoleShares[] => {
    const bars = labels.map((label, place) => {
      const parts = STATE_GROUPS.flatMap((group): readonly SharePart[] => {
        const row = metrics.find((one) => one.metric === `share_${group}` && one.role === role);
        const share = row?.groups[place]?.mean ?? 0;
        return share >= MIN_SHARE ? [{ group, share }] : [];
      });
      return { label, parts, text: textOf(parts) };
    });
    return bars.some(({ parts }) => parts.length > 0) ? [{ role, bars }] : [];
  });
}

function textOf(parts: readonly SharePart[]): string {
  if (parts.length === 0) return "not known";
  return [...parts]
    .sort((a, b) => b.share - a.share)
    .map(({ group, share }) => `${GROUP_NAMES[group]} ${formatPercent(share)}`)
    .join(", ");
}
