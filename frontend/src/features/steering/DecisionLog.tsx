import { useState } from "react";
import { localTime, utcTime } from "../../base/clock";
import { decisionWords, isMove } from "../../chart/steerMarks";
import { formatDuration, formatValue } from "../../stream/format";
import type { SteerView } from "../../stream/steerView";
import { Checkbox } from "../../ui/Controls";
import { scrollable } from "../../ui/Panel";
import type { Target } from "../../wire/generated/models";
import styles from "./CoreDivisions.module.css";

/** One line: a decision or a restart. */
interface LogLine {
  readonly key: string;
  readonly t_s: number;
  /** Name and process ID of a program in a group; "" for a single-process target. */
  readonly program: string;
  readonly what: string;
  /** Operations per second and the interval's length; null for a restart. */
  readonly measured: { readonly rate: number; readonly seconds: number } | null;
  readonly reason: string;
  /** The size changed, or the search was restarted. */
  readonly moved: boolean;
}

const MAX_LINES = 150;

/**
 * Lines newest first, at most 150.
 * @param all False: only changes of size (also proposed ones in shadow mode) and restarts.
 */
export function logLines(steer: SteerView, all: boolean): readonly LogLine[] {
  const decisions = steer.decisions.map((decision): LogLine => {
    const { id, t_s, start_s, size, proposed, counted, reason, rate, program = "" } = decision;
    const moved = isMove(decision) || (proposed !== null && proposed !== size);
    const what = `${decisionWords(decision)}${counted ? "" : " (not counted)"}`;
    const measured = { rate, seconds: t_s - start_s };
    return { key: `d${id}`, t_s, program, what, measured, reason, moved };
  });
  const restarts = steer.restarts.map(
    ({ t_s, reason, actor, program = "" }, i): LogLine => ({
      // One frame may bring several.
      key: `r${t_s} ${program} ${i}`,
      t_s,
      program,
      what: "search restarted",
      measured: null,
      reason: actor === "" ? reason : `${reason} (${actor})`,
      moved: true,
    }),
  );
  return [...decisions, ...restarts]
    .filter(({ moved }) => all || moved)
    .sort((a, b) => b.t_s - a.t_s)
    .slice(0, MAX_LINES);
}

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
      <header className={styles.logHead}>
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
          <ol className={styles.logList}>
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
