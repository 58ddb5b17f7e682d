import { useCallback } from "react";
import { auditSizes } from "../../api/client";
import { usePolled } from "../../api/usePolled";
import { ProblemNotice } from "../../ui/ProblemNotice";
import { CheckCard } from "./CheckCard";
import styles from "./DoctorPage.module.css";
import { auditText, sizeChecks } from "./sizeChecks";

interface SizesProps {
  readonly host: string;
}

/** Pools of a host's programs whose sizes do not fit what the programs may use. */
export function Sizes({ host }: SizesProps) {
  const load = useCallback((signal: AbortSignal) => auditSizes(host, signal), [host]);
  const { value, problem } = usePolled(load, null);
  const checks = value === null ? [] : sizeChecks(value);
  return (
    <section className={styles.sizes} aria-label="Sizes of pools">
      <h2>Sizes of pools</h2>
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <p className={styles.about}>{value === null ? "" : auditText(value)}</p>
      {checks.length === 0 ? null : (
        <ul className="surface">
          {checks.map((check) => (
            <CheckCard key={check.name} check={check} unknown={!check.known} />
          ))}
        </ul>
      )}
    </section>
  );
}
