/** Signing in and out. */

import { dropSession, keepSession, session } from "../base/session";
import { createStore } from "../base/store";
import type { Problem, SessionsResponse } from "../wire/generated/models";
import {
  isSessionOpened,
  isSessionsResponse,
  isTicketResponse,
} from "../wire/generated/validators";
import { asProblem, command, request } from "./http";

/** State of the sign-in by the address that the page was opened with. */
export type AddressSignIn =
  | { readonly state: "none" }
  /** The address's token is being exchanged. */
  | { readonly state: "busy" }
  | { readonly state: "refused"; readonly problem: Problem }
  /** The address has a token in a place that is not accepted. */
  | { readonly state: "misplaced" };

export const addressSignIn = createStore<AddressSignIn>({ state: "none" });

/** Shown wherever a read-only session cannot change something. */
export const VIEW_ONLY = "Read-only session. Sign in with the operator's token to make changes.";

/** Exchange the printed token for a session; the previous session ends. */
export async function signIn(token: string): Promise<void> {
  const before = session.get();
  const { credential, role } = await request("POST", "/session", isSessionOpened, {
    body: { token },
    credential: null,
  });
  keepSession({ credential, role });
  if (before !== null) {
    // The previous session may have ended already.
    command("DELETE", "/session", { credential: before.credential }).catch(() => undefined);
  }
}

/** End the session, here and on the backend. */
export async function signOut(): Promise<void> {
  const current = session.get();
  if (current === null) return;
  try {
    await command("DELETE", "/session");
  } finally {
    dropSession(current.credential);
  }
}

/**
 * Remove the token from the address, which history and screenshots would keep, and exchange it.
 * Called at start and when the address changes.
 */
export async function signInFromAddress(): Promise<void> {
  const { pathname, search, hash } = window.location;
  const token = new URLSearchParams(hash.slice(1)).get("token");
  const query = new URLSearchParams(search);
  if (token === null && !query.has("token")) return;
  query.delete("token");
  const rest = query.size > 0 ? `?${query}` : "";
  window.history.replaceState(null, "", `${pathname}${rest}`);
  if (token === null) {
    addressSignIn.set({ state: "misplaced" });
    return;
  }
  addressSignIn.set({ state: "busy" });
  try {
    await signIn(token);
    addressSignIn.set({ state: "none" });
  } catch (error) {
    addressSignIn.set({ state: "refused", problem: asProblem(error) });
  }
}

/**
 * Extract the token from pasted text: the whole printed address, a part of the address, or the
 * token alone.
 * @returns "" if there is none.
 */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  const inAddress = /[#?&]token=([^&#\s]+)/.exec(text);
  if (inAddress?.[1] !== undefined) {
    return decodeURIComponent(inAddress[1]);
  }
  return /[\s/?&#]/.test(text) ? "" : text.replace(/^token=/, "");
}

/** List all open sessions; for operators. */
export function listSessions(signal?: AbortSignal): Promise<SessionsResponse> {
  return request("GET", "/sessions", isSessionsResponse, { signal });
}

/** End any session; for operators. */
export function endSession(id: string): Promise<void> {
  return command("DELETE", `/sessions/${id}`);
}

/**
 * Return an address for downloading a file by a link, which cannot send a header. The address is
 * valid once, for some seconds.
 * @param href Path and query.
 */
export async function withTicket(href: string): Promise<string> {
  const { ticket } = await request("POST", "/session/tickets", isTicketResponse, {
    body: { path: href },
  });
  return `${href}${href.includes("?") ? "&" : "?"}ticket=${ticket}`;
}
