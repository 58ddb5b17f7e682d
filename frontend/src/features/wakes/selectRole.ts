import type { LiveClient } from "../../stream/client";
import type { ThreadKey } from "../../stream/viewRequest";

const PREFIX = "role:";

/** Filter that only threads of a role fit. */
export function roleFilter(role: string): string {
  return `^${role.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`;
}

/**
 * Select a role everywhere, and list its threads alone; the selected one again, or null, goes back.
 */
export function selectRole(client: LiveClient, key: ThreadKey | null): void {
  const { selected, filter } = client.view.get();
  const before = selected?.startsWith(PREFIX) ? roleFilter(selected.slice(PREFIX.length)) : null;
  const same = key === selected;
  const role = key === null || same ? null : key.slice(PREFIX.length);
  const left = filter === before ? "" : filter;
  client.request({
    selected: role === null ? null : key,
    filter: role === null ? left : roleFilter(role),
  });
}
