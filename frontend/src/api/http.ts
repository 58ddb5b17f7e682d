import { misfitOf } from "../wire/check";
import type { Validator } from "../wire/generated/validators";
import { ProblemError, problemOf, unexpected, unreachable } from "./problem";
import { signedIn } from "./session";

/** What a request may carry. */
export interface RequestParts {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of a body. */
  readonly file?: { readonly type: string; readonly data: Blob };
  readonly signal?: AbortSignal | undefined;
}

/**
 * Ask the backend for something.
 *
 * @param fits Validator of the answer.
 * @throws ProblemError if it refuses, does not answer, or answers with something else; the reason of
 *   the signal if that ended it.
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

/** Tell the backend to do something that has no answer. Throws as `request` does. */
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
  { body, file, signal }: RequestParts,
): Promise<Response> {
  const type = file?.type ?? (body === undefined ? null : "application/json");
  const response = await fetch(`/api/v1${path}`, {
    method,
    credentials: "same-origin",
    headers: type === null ? {} : { "content-type": type },
    body: file?.data ?? (body === undefined ? null : JSON.stringify(body)),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    throw signal?.aborted === true ? error : new ProblemError(unreachable());
  });
  if (!response.ok) {
    if (response.status === 401) {
      signedIn.set(false);
    }
    throw new ProblemError(await problemOf(response));
  }
  return response;
}
