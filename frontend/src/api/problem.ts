/**
 * Refusals of the backend (RFC 9457), and problems that the page creates when no answer arrived.
 */

import type { Problem, ProblemType } from "../wire/generated/models";
import { isProblem } from "../wire/generated/validators";

const PREFIX = "urn:tidscope:problem:";

/** A request was refused; `problem` holds the reason and the remedy. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

/** Whether a problem has this type. */
export function isKind(problem: Problem | null, kind: ProblemType): boolean {
  return problem?.type === PREFIX + kind;
}

/** The backend did not answer. */
export function unreachable(): Problem {
  return {
    type: "about:blank",
    title: "Backend unreachable",
    status: 0,
    detail: "The server this page was loaded from does not respond.",
    hint: "Check that tidscope is running. The page retries automatically.",
  };
}

/** The backend's answer does not fit its schema. */
export function unexpected(detail: string, status: number): Problem {
  return {
    type: "about:blank",
    title: "Unexpected answer from the backend",
    status,
    detail,
    hint: "Reload the page: it may be of another version than the backend.",
  };
}

/** Extract the problem from an error response; never throws. */
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

/** Return the problem for any thrown value. */
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
