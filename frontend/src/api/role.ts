import { createStore } from "../base/store";
import type { Role } from "../wire/generated/models";
import { getSession } from "./client";

/** What this session may do; null until it is known. It does not change while the page is open. */
export const role = createStore<Role | null>(null);

let asking = false;

/** Ask once; a failure is asked again by the next who wants to know. */
export function askRole(): void {
  if (asking || role.get() !== null) {
    return;
  }
  asking = true;
  getSession()
    .then((session) => role.set(session.role))
    .catch(() => undefined)
    .finally(() => {
      asking = false;
    });
}

/** Said wherever something cannot be changed by those who only watch. */
export const VIEW_ONLY = "Read-only session. Sign in with the operator's token to make changes.";
