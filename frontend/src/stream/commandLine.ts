import type { Process, RunManifest, RunSummary } from "../wire/generated/models";

type Outcome = NonNullable<RunManifest["outcome"]>;

/** What stands where viewers are not shown the arguments of a program. */
export const ARGUMENTS_HIDDEN = "(arguments are hidden from viewers)";

/** Command line of a process, or its executable where the arguments are hidden. */
export function commandLine(process: Pick<Process, "command" | "executable" | "name">): string {
  return process.command ?? `${process.executable ?? process.name} ${ARGUMENTS_HIDDEN}`;
}

/** The same for a run in a list. */
export function runCommandLine(run: Pick<RunSummary, "command" | "process">): string {
  return run.command ?? `${run.process} ${ARGUMENTS_HIDDEN}`;
}

/** The same for a recorded command. */
export function outcomeCommand(outcome: Outcome, process: string): string {
  return outcome.command?.join(" ") ?? `${process} ${ARGUMENTS_HIDDEN}`;
}
