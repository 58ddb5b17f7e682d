import { useState } from "react";
import { localTime, utcTime } from "../../base/clock";
import { formatDuration, formatValue } from "../../stream/format";
import type { SteerView } from "../../stream/steerView";
import { Checkbox } from "../../ui/Controls";
import { scrollable } from "../../ui/Panel";
import type { Target } from "../../wire/generated/models";
import styles from "./DecisionLog.module.css";
import { logLines } from "./logLines";

interface DecisionLogProps {
  readonly target: Target;
  readonly steer: SteerView;
}

/** Decisions and restarts, newest first. */
export function DecisionLog({ target, steer }: DecisionLogProps) {
  const [all, setAll] = useState(true);
  const lines = logLines(steer, all);
  const attached_ms = target.attached_unix_us / 1000;
  return (
    <section className={styles.log} aria-label="Decisions">
      <header className={styles.head}>
        <h3>
          Decisions <small>{steer.total}</small>
        </h3>
        <Checkbox
          label="Only changes"
          checked={!all}
          onChange={(changesOnly) => setAll(!changesOnly)}
        />
      </header>
      {lines.length === 0 ? (
        <p className={styles.none}>No decisions yet.</p>
      ) : (
        <div className={styles.scroll} {...scrollable("Decisions, newest first")}>
          <ol className={styles.list}>
            {lines.map(({ key, t_s, program, what, measured, reason, moved }) => (
              <li key={key} className={styles.line} data-moved={moved}>
                <time title={utcTime(attached_ms + 1000 * t_s)}>
                  {localTime(attached_ms + 1000 * t_s)}
                </time>
                <p className={styles.sentence}>
                  {program === "" ? "" : `${program}: `}
                  <b className={styles.what}>{what}</b>
                  {measured === null ? null : (
                    <span data-measured="">{measuredText(measured)}</span>
                  )}
                  {reason === "" ? "." : `: ${reason}`}
                </p>
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}

function measuredText({ rate, seconds }: { readonly rate: number; readonly seconds: number }) {
  if (Number.isNaN(rate)) return "";
  return ` after ${formatValue(rate, "1/s")} over ${formatDuration(seconds)}`;
}
