import type { ReactNode } from "react";
import type { Problem } from "../wire/generated/models";
import { Notice } from "./Notice";

interface ProblemNoticeProps {
  readonly problem: Problem;
  readonly actions?: ReactNode;
}

/** A refusal: the reason and the remedy. */
export function ProblemNotice({ problem, actions }: ProblemNoticeProps) {
  return (
    <Notice status="error" title={problem.title} actions={actions} urgent>
      <p>{problem.detail}</p>
      {problem.hint === "" ? null : <p>{problem.hint}</p>}
    </Notice>
  );
}
