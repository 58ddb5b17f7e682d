/** What the CPU chart is of. */

import { levelOf, sumsIn, threadsIn, type ViewInput } from "../chartView";
import type { LevelSum, Lined } from "../lined";
import { isRuntimeRole } from "../role";
import type { Thread } from "../threads";
import type { Level } from "../viewRequest";

export type CpuScope =
  /** All of the target, by processes, roles or threads. */
  | { readonly kind: "whole"; readonly by: Level; readonly lined: readonly Lined[] }
  /** The threads of one role of several, or of the only one on request. */
  | { readonly kind: "role"; readonly role: LevelSum; readonly threads: readonly Thread[] };

/**
 * All, by role, unless a role or one of its threads is selected: then that role's threads. A program
 * whose threads are all of one role is shown by thread; a group by process.
 */
export function cpuScope(input: ViewInput): CpuScope {
  const { levels } = input.model;
  const roles = [...sumsIn(input, levels.roles.values())];
  const opened = openedRole(input, roles);
  if (opened) {
    const threads = [...threadsIn(input)].filter(({ role }) => role === opened.role);
    return { kind: "role", role: opened, threads };
  }
  if (levelOf(input) === "process") {
    return { kind: "whole", by: "process", lined: [...sumsIn(input, levels.processes())] };
  }
  if (several(roles)) return { kind: "whole", by: "role", lined: roles };
  return { kind: "whole", by: "thread", lined: [...threadsIn(input)] };
}

/** Threads that a runtime keeps for itself make no second role. */
function several(roles: readonly LevelSum[]): boolean {
  return roles.filter(({ role }) => !isRuntimeRole(role)).length > 1;
}

function openedRole({ request, model }: ViewInput, roles: readonly LevelSum[]): LevelSum | null {
  const { selected } = request;
  if (selected === null) return null;
  const role = roles.find(({ key }) => key === selected);
  if (role) return role;
  // A thread of the only role has its place in the picture of all.
  if (!several(roles) || model.levels.grouped) return null;
  for (const thread of model.threads.all()) {
    if (thread.key === selected) return roles.find((each) => each.role === thread.role) ?? null;
  }
  return null;
}
