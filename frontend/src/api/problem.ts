/** Refusals of the backend (RFC 9457), and those that the page makes up when none could come. */

import type { Problem, ProblemType } from "../wire/generated/models";
import { isProblem } from "../wire/generated/validators";

const PREFIX = "urn:tidscope:problem:";

/** A request was refused; `problem` says what was wrong and what to do. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

/** Whether a problem is of this kind. */
export function isKind(problem: Problem | null, kind: ProblemType): boolean {
  return problem?.type === PREFIX + kind;
}

/** The backend did not answer at all. */
export function unreachable(): Problem {
  return {
    type: "about:blank",
    title: "Backend unreachable",
    status: 0,
    detail: "The server this page was loaded from does not respond.",
    hint: "Check that tidscope is running. The page retries automatically.",
  };
}

/** The backend answered with something else than its schema says. */
export function unexpected(detail: string, status: number): Problem {
  return {
    type: "about:blank",
    title: "Unexpected answer from the backend",
    status,
    detail,
    hint: "Reload the page: it may be of another version than the backend.",
  };
}

/** Read the problem out of an answer that is not a success; never throws. */
export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  if (isProblem(body)) return body;
  return {
    type: "about:blank",
    title: response.statusText || "Refused",
    status: response.status,
    detail: `The backend answered with status ${response.status}.`,
    hint: "",
  };
}

/** The problem behind anything that was thrown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ProblemError) {
    return error.problem;
  }
  const detail = error instanceof Error ? error.message : String(error);
  return {
    type: "about:blank",
    title: "Something went wrong on this page",
    status: 0,
    detail,
    hint: "Reload the page.",
  };
}
