import { useMemo } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { groupColours } from "../../chart/stateColours";
import { GROUP_NAMES, type StateGroup } from "../../stream/states";
import type { Comparison } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import type { PartProps } from "./link";
import { RoleName } from "./RoleMatching";
import styles from "./StatesPanel.module.css";
import { type RoleShares, stateShares } from "./stateShares";

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
      <dl className={styles.roles}>
        {roles.map((one) => (
          <Role key={one.role ?? ""} shares={one} colours={colours} roles={comparison.roles} />
        ))}
      </dl>
      <ul className={styles.legend} aria-label="States">
        {groups.map((group) => (
          <li key={group}>
            <span className={styles.swatch} style={{ background: colours[group] }} />{" "}
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
          <div key={label} className={styles.row}>
            <span className={styles.label} title={label}>
              {label}
            </span>
            <span className={styles.bar} role="img" aria-label={`${label}: ${text}`} title={text}>
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
