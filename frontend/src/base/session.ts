/**
 * The session of this page, stored per origin: scheme, host and port. (A cookie would go to every
 * program of the host, whatever its port.)
 */

import { createStore, type Readable } from "./store";

export interface Session {
  /** Sent with each request. */
  readonly credential: string;
  readonly role: "viewer" | "operator";
}

const KEY = "tidscope.session";
/** Null if the browser offers no storage: the session ends with the tab. */
const storage = openStorage();
const current = createStore<Session | null>(read());

/** The session, or null while nobody is signed in. Shared by all tabs. */
export const session: Readable<Session | null> = current;

/** Sign in with a session, or sign out with null. */
export function keepSession(next: Session | null): void {
  if (next === null) {
    storage?.removeItem(KEY);
  } else {
    storage?.setItem(KEY, JSON.stringify(next));
  }
  current.set(next);
}

/** Look without signing in, until the page closes: answers are files, and the credential is empty. */
export function lookAtFiles(): void {
  current.set({ credential: "", role: "viewer" });
}

/** Drop a credential that the backend no longer accepts. */
export function dropSession(credential: string): void {
  // Another tab may have signed in already: the tab's storage event arrives later.
  const kept = storage === null ? current.get() : read();
  if (kept?.credential === credential) {
    keepSession(null);
  } else {
    current.set(kept);
  }
}

if (typeof window !== "undefined") {
  window.addEventListener("storage", ({ key }) => {
    if (key === KEY || key === null) {
      current.set(read());
    }
  });
}

function openStorage(): Storage | null {
  try {
    return typeof window === "undefined" ? null : window.localStorage;
  } catch {
    return null;
  }
}

function read(): Session | null {
  try {
    const kept: unknown = JSON.parse(storage?.getItem(KEY) ?? "null");
    return isSession(kept) ? kept : null;
  } catch {
    return null;
  }
}

function isSession(value: unknown): value is Session {
  return (
    typeof value === "object" &&
    value !== null &&
    "credential" in value &&
    typeof value.credential === "string" &&
    "role" in value &&
    (value.role === "viewer" || value.role === "operator")
  );
}
