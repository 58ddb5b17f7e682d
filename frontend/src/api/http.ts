import { dropSession, session } from "../base/session";
import { misfitOf } from "../wire/check";
import type { Validator } from "../wire/generated/validators";
import { ProblemError, problemOf, unexpected, unreachable } from "./problem";

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
  if (credential !== null) headers.set("authorization", `Bearer ${credential}`);
  const response = await fetch(`/api/v1${path}`, {
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
