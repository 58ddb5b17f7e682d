import type { ReactNode } from "react";
import { CommandLine } from "../../ui/CommandLine";
import { type Status, StatusIcon } from "../../ui/StatusIcon";
import type { CheckState, DoctorCheck } from "../../wire/generated/models";
import styles from "./CheckCard.module.css";

const SHOWN: Readonly<Record<CheckState, readonly [Status, string]>> = {
  ok: ["ok", "In order"],
  limited: ["warning", "Limited"],
  failed: ["error", "Failed"],
  unknown: ["unknown", "Unknown"],
};

interface CheckCardProps {
  readonly check: DoctorCheck;
  /** What can be done about it here. */
  readonly children?: ReactNode;
}

/** One capability: its state, what was found, what is lost, and what mends it. */
export function CheckCard({ check, children }: CheckCardProps) {
  const [status, label] = SHOWN[check.state];
  return (
    <li className={styles.check} data-check={check.name} data-state={check.state}>
      <p className={`${styles.state} ${styles[status] ?? ""}`}>
        <StatusIcon status={status} />
        {label}
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
