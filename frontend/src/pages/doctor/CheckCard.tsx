import type { ReactNode } from "react";
import { CommandLine } from "../../ui/CommandLine";
import { Mark, type MarkKind } from "../../ui/Mark";
import type { CheckStatus, DoctorCheck } from "../../wire/generated/models";
import styles from "./CheckCard.module.css";

const SHOWN: Readonly<Record<CheckStatus, readonly [MarkKind, string]>> = {
  ok: ["good", "In order"],
  limited: ["fair", "Limited"],
  failed: ["bad", "Failed"],
};

interface CheckCardProps {
  readonly check: DoctorCheck;
  /** What can be done about it here. */
  readonly children?: ReactNode;
}

/** One capability: its status, finding, impact and fix. */
export function CheckCard({ check, children }: CheckCardProps) {
  const [kind, word] = SHOWN[check.status];
  return (
    <li className={styles.check} data-check={check.name} data-state={check.status}>
      <p className={`${styles.state} ${styles[kind] ?? ""}`}>
        <Mark kind={kind} />
        {word}
      </p>
      <div className={styles.text}>
        <h2>{check.title}</h2>
        <p className={styles.found}>{check.finding}</p>
        {check.impact === "" ? null : (
          <p>
            <span className={styles.word}>Without it: </span>
            {check.impact}
          </p>
        )}
        {check.fix === "" ? null : (
          <CommandLine command={check.fix} what={`what mends ${check.title}`} />
        )}
        {children}
      </div>
    </li>
  );
}
