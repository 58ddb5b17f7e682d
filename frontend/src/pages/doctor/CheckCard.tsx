import type { ReactNode } from "react";
import { CommandLine } from "../../ui/CommandLine";
import { Mark, type MarkKind } from "../../ui/Mark";
import type { CheckState, DoctorCheck } from "../../wire/generated/models";
import styles from "./CheckCard.module.css";

const SHOWN: Readonly<Record<CheckState, readonly [MarkKind, string]>> = {
  ok: ["good", "In order"],
  limited: ["fair", "Limited"],
  failed: ["bad", "Failed"],
  unknown: ["unknown", "Unknown"],
};

interface CheckCardProps {
  readonly check: DoctorCheck;
  /** What can be done about it here. */
  readonly children?: ReactNode;
}

/** One capability: its state, what was found, what is lost, and what mends it. */
export function CheckCard({ check, children }: CheckCardProps) {
  const [kind, word] = SHOWN[check.state];
  return (
    <li className={styles.check} data-check={check.name} data-state={check.state}>
      <p className={`${styles.state} ${styles[kind] ?? ""}`}>
        <Mark kind={kind} />
        {word}
      </p>
      <div className={styles.text}>
        <h2>{check.title}</h2>
        <p className={styles.found}>{check.found}</p>
        {check.lost === "" ? null : (
          <p>
            <span className={styles.word}>Without it: </span>
            {check.lost}
          </p>
        )}
        {check.mend === "" ? null : (
          <CommandLine command={check.mend} what={`what mends ${check.title}`} />
        )}
        {children}
      </div>
    </li>
  );
}
