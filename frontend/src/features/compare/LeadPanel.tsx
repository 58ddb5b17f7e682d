import { useMemo } from "react";
import { StatusIcon } from "../../ui/Notices";
import type { Verdict } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import { curveMetrics, curveRoles } from "./curves";
import { type Leading, leadOf } from "./leading";
import type { CompareLink, PartProps } from "./link";

const ICONS: Partial<Record<Verdict, "ok" | "warning">> = { better: "ok", worse: "warning" };

/** The largest certain differences, one sentence each; a press shows the curves and the row. */
export function LeadPanel({ link, comparison, onLink }: PartProps) {
  const { differences, none } = useMemo(() => leadOf(comparison), [comparison]);
  const metrics = useMemo(() => curveMetrics(comparison), [comparison]);
  const shown = ({ metric, role }: Leading): CompareLink => {
    const rows = role === null ? "process" : "roles";
    if (!metrics.includes(metric)) return { ...link, rows };
    const has = curveRoles(comparison, metric).includes(role ?? "");
    return { ...link, rows, metric, role: has ? (role ?? "") : "" };
  };
  return (
    <section className={shared.panel} aria-label="Largest differences">
      <header className={shared.panelHead}>
        <h2>Largest differences</h2>
        <span className={shared.hint}>Those that are certain, each of another kind.</span>
      </header>
      {differences.length === 0 ? (
        <p className={shared.none}>{none}</p>
      ) : (
        <ol className={shared.list}>
          {differences.map((one) => (
            <li key={`${one.metric} ${one.role ?? ""} ${one.group}`} data-lead={one.metric}>
              <StatusIcon status={ICONS[one.verdict] ?? "info"} />
              <div>
                <button type="button" onClick={() => onLink(shown(one))}>
                  {one.text}
                </button>
                <p className={shared.hint}>{one.evidence}</p>
              </div>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
