/** Display name of a target: a process or tree by its first process, another group by its own. */

import type { GroupKind, Process, RunManifest, RunSummary, Target } from "../wire/generated/models";

export const GROUP_KINDS: Readonly<Record<GroupKind, string>> = {
  tree: "process tree",
  cgroup: "cgroup",
  unit: "systemd unit",
  container: "container",
  pod: "Kubernetes pod",
  match: "all that match",
};

type Named = Pick<Target, "process" | "group">;

/** True if one command describes a target: that of a process, or of the root of a tree. */
export function isCommand({ group }: Pick<Target, "group">): boolean {
  return !group || group.kind === "tree";
}

export function targetName(target: Named): string {
  return isCommand(target) ? target.process.name : (target.group?.name ?? "");
}

/** Name of the program that the user's roles are stored under. */
export function programOf({ process }: Pick<Target, "process">): string {
  return process.name;
}

/** Distinguishes targets of equal names: the kind of a group, or a process ID. */
export function targetId({ process, group }: Named): string {
  const pid = `pid ${process.pid}`;
  if (!group) return pid;
  return group.kind === "tree" ? `${pid} and descendants` : GROUP_KINDS[group.kind];
}

/** Name of what was recorded, of a run in a list. */
export function runTargetName({ process, target_group }: RunTarget): string {
  return target_group?.name ?? process;
}

/** Kind of a run's group; null for one process. */
export function runTargetKind({ target_group }: RunTarget): string | null {
  return target_group ? GROUP_KINDS[target_group.kind] : null;
}

type RunTarget = Pick<RunSummary, "process" | "target_group">;

type Outcome = NonNullable<RunManifest["outcome"]>;

/** Placeholder for a program's arguments, which viewers must not see. */
const ARGUMENTS_HIDDEN = "(arguments are hidden from viewers)";

/** Command line of a process, or its executable if the arguments are hidden. */
export function commandLine(process: Pick<Process, "command" | "executable" | "name">): string {
  return process.command ?? `${process.executable ?? process.name} ${ARGUMENTS_HIDDEN}`;
}

/** `commandLine` of a run in a list. */
export function runCommandLine(run: Pick<RunSummary, "command" | "process">): string {
  return run.command ?? `${run.process} ${ARGUMENTS_HIDDEN}`;
}

/** `commandLine` of a recorded command. */
export function outcomeCommand(outcome: Outcome, process: string): string {
  return outcome.command?.join(" ") ?? `${process} ${ARGUMENTS_HIDDEN}`;
}
