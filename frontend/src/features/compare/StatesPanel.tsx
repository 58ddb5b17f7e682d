import { useMemo } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { groupColours } from "../../chart/stateColours";
import { formatPercent } from "../../stream/format";
import { GROUP_NAMES, type StateGroup } from "../../stream/states";
import type { ComparedMetric, Comparison } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import type { PartProps } from "./link";
import { RoleName } from "./RoleMatching";
import { shortLabels } from "./side";

interface SharePart {
  readonly group: StateGroup;
  readonly share: number;
}

/** The bars of a role: one per group of runs. */
interface RoleShares {
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

/** Time breakdown of each role, one bar per group of runs; empty without ledgers. */
export function StatesPanel({ comparison }: Pick<PartProps, "comparison">) {
  const colours = groupColours(CHART_THEMES[useStore(theme)].dark);
  const roles = useMemo(() => stateShares(comparison), [comparison]);
  if (roles.length === 0) {
    return null;
  }
  const shown = new Set(
    roles.flatMap(({ bars }) => bars.flatMap(({ parts }) => parts)).map(({ group }) => group),
  );
  const groups = (Object.keys(GROUP_NAMES) as StateGroup[]).filter((group) => shown.has(group));
  return (
    <section className={shared.panel} aria-label="States by role">
      <header className={shared.panelHead}>
        <h2>States by role</h2>
        <span className={shared.hint}>Shares of thread time, means of the runs.</span>
      </header>
      <dl className={shared.roles}>
        {roles.map((one) => (
          <Role key={one.role ?? ""} shares={one} colours={colours} roles={comparison.roles} />
        ))}
      </dl>
      <ul className={shared.stateLegend} aria-label="States">
        {groups.map((group) => (
          <li key={group}>
            <span className={shared.swatch} style={{ background: colours[group] }} />{" "}
            {GROUP_NAMES[group]}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RoleProps {
  readonly shares: RoleShares;
  readonly colours: Readonly<Record<StateGroup, string>>;
  readonly roles: Comparison["roles"];
}

function Role({ shares: { role, bars }, colours, roles }: RoleProps) {
  return (
    <div>
      <dt>{role === null ? "Whole process" : <RoleName role={role} roles={roles} />}</dt>
      <dd>
        {bars.map(({ label, parts, text }) => (
          <div key={label} className={shared.row}>
            <span className={shared.stateLabel} title={label}>
              {label}
            </span>
            <span className={shared.bar} role="img" aria-label={`${label}: ${text}`} title={text}>
              {parts.map(({ group, share }) => (
                <span
                  key={group}
                  style={{ width: `${100 * share}%`, background: colours[group] }}
                />
              ))}
            </span>
          </div>
        ))}
      </dd>
    </div>
  );
}
