import { dropSession, session } from "../base/session";
import { answerHref } from "../base/source";
import { misfitOf } from "../wire/check";
import type { Problem, ProblemType } from "../wire/generated/models";
import { isProblem, type Validator } from "../wire/generated/validators";

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
function unreachable(): Problem {
  return {
    type: "about:blank",
    title: "Backend unreachable",
    status: 0,
    detail: "The server this page was loaded from does not respond.",
    hint: "Check that tidscope is running. The page retries automatically.",
  };
}

/** The backend's answer does not fit its schema. */
function unexpected(detail: string, status: number): Problem {
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

/** Optional parts of a request. */
export interface RequestParts {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, in place of a body. */
  readonly file?: { readonly type: string; readonly data: Blob };
  readonly signal?: AbortSignal | undefined;
  /** Credential that replaces the page's; null sends none. */
  readonly credential?: string | null;
}

/**
 * Send a request to the backend.
 * @param fits Validator of the answer.
 * @throws ProblemError if the backend refuses, is unreachable, or answers with an invalid body; the
 * signal's reason if aborted.
 */
export async function request<T>(
  method: string,
  path: string,
  fits: Validator<T>,
  parts: RequestParts = {},
): Promise<T> {
  const response = await send(method, path, parts);
  const value: unknown = await response.json().catch(() => undefined);
  if (fits(value)) return value;
  const misfit = misfitOf(fits, value) ?? "";
  throw new ProblemError(unexpected(`${method} ${path}: ${misfit}`, response.status));
}

/** Send a request that has no answer. Throws as `request` does. */
export async function command(
  method: string,
  path: string,
  parts: RequestParts = {},
): Promise<void> {
  await send(method, path, parts);
}

async function send(
  method: string,
  path: string,
  { body, file, signal, credential = session.get()?.credential ?? null }: RequestParts,
): Promise<Response> {
  const type = file?.type ?? (body === undefined ? null : "application/json");
  const headers = new Headers();
  if (type !== null) headers.set("content-type", type);
  if (credential) headers.set("authorization", `Bearer ${credential}`);
  const response = await fetch(answerHref(path), {
    method,
    credentials: "omit",
    headers,
    body: file?.data ?? (body === undefined ? null : JSON.stringify(body)),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    throw signal?.aborted === true ? error : new ProblemError(unreachable());
  });
  if (!response.ok) {
    if (response.status === 401 && credential !== null) {
      dropSession(credential);
    }
    throw new ProblemError(await problemOf(response));
  }
  return response;
}
