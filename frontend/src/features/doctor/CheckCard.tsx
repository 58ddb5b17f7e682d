import { createElement, Fragment, type ReactNode } from "react";
import { CommandLine } from "../../ui/CommandLine";
import { type Status, StatusIcon } from "../../ui/StatusIcon";
import type { CheckStatus, DoctorCheck } from "../../wire/generated/models";
import styles from "./CheckCard.module.css";

const SHOWN: Readonly<Record<CheckStatus, readonly [Status, string]>> = {
  ok: ["ok", "OK"],
  limited: ["warning", "Limited"],
  failed: ["error", "Failed"],
};

const UNKNOWN: readonly [Status, string] = ["unknown", "Unknown"];

interface CheckCardProps {
  readonly check: DoctorCheck;
  /** Nothing is known to be wrong, nor to be right. */
  readonly unknown?: boolean;
  /** What can be done about it here. */
  readonly children?: ReactNode;
}

/** One capability: its status, finding, impact and fix. */
export function CheckCard({ check, unknown = false, children }: CheckCardProps) {
  const [status, label] = unknown ? UNKNOWN : SHOWN[check.status];
  return (
    <li
      className={styles.check}
      data-check={check.name}
      data-state={unknown ? "unknown" : check.status}
    >
      <p className={`${styles.state} ${styles[status] ?? ""}`}>
        <StatusIcon status={status} />
        {label}
      </p>
      <div className={styles.text}>
        <h2>{check.title}</h2>
        <p className={styles.found}>
          <CodeText text={check.finding} />
        </p>
        {check.impact === "" ? null : (
          <p>
            <span className={styles.word}>Impact: </span>
            <CodeText text={check.impact} />
          </p>
        )}
        {check.fix === "" ? null : (
          <CommandLine command={check.fix} what={`the fix for ${check.title}`} />
        )}
        {children}
      </div>
    </li>
  );
}

/** A sentence in which commands stand between backticks, as terminals show them. */
function CodeText({ text }: { readonly text: string }) {
  const parts = text.split("`");
  // Every second part stood between two of them.
  const shown = parts.map((part, n) => (n % 2 === 1 ? createElement("code", null, part) : part));
  return createElement(Fragment, null, ...shown);
}
