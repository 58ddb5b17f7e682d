/** Lines of the decision log. Pure. */

import { decisionWords, isMove } from "../../../charts/steerMarks";
import type { SteerView } from "../../../model/steerView";

/** One line: a decision or a restart. */
export interface LogLine {
  readonly key: string;
  readonly t_s: number;
  readonly what: string;
  readonly reason: string;
  /** The size changed, or the search was restarted. */
  readonly moved: boolean;
}

const MAX_LINES = 150;

/**
 * Newest first, at most 150.
 *
 * @param all False: only changes of size (in shadow mode: those that would be) and restarts.
 */
export function logLines(steer: SteerView, all: boolean): readonly LogLine[] {
  const decisions = steer.decisions.map((decision): LogLine => {
    const { id, t_s, size, proposed, counted, reason } = decision;
    const moved = isMove(decision) || (proposed !== null && proposed !== size);
    const what = `${decisionWords(decision)}${counted ? "" : " (not counted)"}`;
    return { key: `d${id}`, t_s, what, reason, moved };
  });
  const restarts = steer.restarts.map(
    ({ t_s, reason, actor }): LogLine => ({
      key: `r${t_s}`,
      t_s,
      what: "search restarted",
      reason: actor === "" ? reason : `${reason} (${actor})`,
      moved: true,
    }),
  );
  return [...decisions, ...restarts]
    .filter(({ moved }) => all || moved)
    .sort((a, b) => b.t_s - a.t_s)
    .slice(0, MAX_LINES);
}
