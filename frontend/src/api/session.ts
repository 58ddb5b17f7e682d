/** Whether the backend accepts this page: false once it answered "not signed in". */

import { createStore } from "../base/store";

export const signedIn = createStore(true);

/**
 * The token in what a person pasted: the whole printed address, a part of it, or the token alone.
 *
 * @returns "" if there is none.
 */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  const inQuery = /[?&]token=([^&#\s]+)/.exec(text);
  if (inQuery?.[1] !== undefined) {
    return decodeURIComponent(inQuery[1]);
  }
  return /[\s/?&]/.test(text) ? "" : text.replace(/^token=/, "");
}
