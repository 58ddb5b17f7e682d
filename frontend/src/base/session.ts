/**
 * The session of this page, kept for its origin: scheme, host and port. (A cookie would go to every
 * program of the host, whatever its port.)
 */

import { createStore, type Readable } from "./store";

export interface Session {
  /** Sent with each request. */
  readonly credential: string;
  readonly role: "viewer" | "operator";
}

const KEY = "tidscope.session";
/** Null where a browser keeps nothing: the session then ends with the tab. */
const storage = openStorage();
const current = createStore<Session | null>(read());

/** The session; null while nobody is signed in. All tabs have the same. */
export const session: Readable<Session | null> = current;

/** Sign in with this session from now on, or out with null. */
export function keepSession(next: Session | null): void {
  if (next === null) {
    storage?.removeItem(KEY);
  } else {
    storage?.setItem(KEY, JSON.stringify(next));
  }
  current.set(next);
}

/** The backend does not accept this credential any more. */
export function dropSession(credential: string): void {
  // Another tab may have signed in already: its message about that comes when it comes.
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
