import { ProblemError, problemOf, unreachable } from "./problem";
import { signedIn } from "./session";

/** What a request may carry. */
export interface RequestParts {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/**
 * Ask the backend. The type of the answer is what its schema says.
 *
 * @throws ProblemError if it refuses or does not answer; the reason of the signal if that ended it.
 */
export async function request<T>(
  method: string,
  path: string,
  { body, signal }: RequestParts = {},
): Promise<T> {
  const response = await fetch(`/api/v1${path}`, {
    method,
    credentials: "same-origin",
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
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
  return (response.status === 204 ? undefined : await response.json()) as T;
}
