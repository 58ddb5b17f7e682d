/** IDs of a process within its own namespaces. */

import type { Process } from "../../wire/generated/models";

/** "pid 1 in its own PID namespace"; null in the collector's namespace. */
export function pidInside({ namespace_pid }: Process): string | null {
  return namespace_pid == null ? null : `pid ${namespace_pid} in its own PID namespace`;
}

/** "anna, uid 1000; in its own namespaces root, uid 0"; only differences are named. */
export function userInside({ uid, user, namespace_uid, namespace_user }: Process): string {
  const outside = user === String(uid) ? `uid ${uid}` : `${user}, uid ${uid}`;
  if (namespace_uid == null && namespace_user == null) return outside;
  const inner = `uid ${namespace_uid ?? uid}`;
  return `${outside}; in its own namespaces ${namespace_user == null ? inner : `${namespace_user}, ${inner}`}`;
}

/** "999 (postgres)": the user outside, and the name inside if different. */
export function userShown({ user, namespace_user }: Process): string {
  return namespace_user == null ? user : `${user} (${namespace_user})`;
}
