/** What a target is called: a process by its name, a group by its own. */

import type { GroupKind, Target } from "../wire/generated/models";

/** Kinds of groups in words. */
export const GROUP_KINDS: Readonly<Record<GroupKind, string>> = {
  tree: "process tree",
  cgroup: "cgroup",
  unit: "systemd unit",
  container: "container",
  match: "all that match",
};

export function targetName({ process, group }: Pick<Target, "process" | "group">): string {
  return group?.name ?? process.name;
}

/** What tells it from others of its name: the kind of a group, or a process id. */
export function targetId({ process, group }: Pick<Target, "process" | "group">): string {
  return group ? GROUP_KINDS[group.kind] : `pid ${process.pid}`;
}
