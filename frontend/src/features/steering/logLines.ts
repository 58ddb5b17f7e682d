/** Lines of the decision log. Pure. */

import { decisionWords, isMove } from "../../chart/steerMarks";
import type { SteerView } from "../../stream/steerView";

/** One line: a decision or a restart. */
export interface LogLine {
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
