/** An arbiter's allocation to a program, in words. Pure. */

import type { DivisionView } from "../../stream/steerView";
import type { CoreDivision, Target } from "../../wire/generated/models";

/** A program that shares divided cores. */
export interface DividedProgram {
  readonly pid: number;
  readonly name: string;
  readonly division: CoreDivision;
}

const STATES: Record<CoreDivision["state"], string> = {
  settled: "settled",
  trying: "trying another division",
  idle: "no progress: smallest size only",
  absent: "no answer: its cores are with the others",
};

/** The programs of a target with a division, most cores first. */
export function dividedPrograms(target: Target): readonly DividedProgram[] {
  const own = target.steering?.division;
  const { pid, name } = target.process;
  const found: DividedProgram[] = own ? [{ pid, name, division: own }] : [];
  for (const program of target.programs ?? []) {
    const division = program.steering.division;
    if (division) found.push({ pid: program.pid, name: program.name, division });
  }
  return largestFirst(found);
}

/** `dividedPrograms` of a run, from its decisions up to a moment. */
export function recordedDivisions(
  target: Target,
  divisions: readonly DivisionView[],
): readonly DividedProgram[] {
  const { pid, name } = target.process;
  return largestFirst(
    divisions.map(({ division, program }) => ({ ...(program ?? { pid, name }), division })),
  );
}

function largestFirst(programs: readonly DividedProgram[]): readonly DividedProgram[] {
  return [...programs].sort((a, b) => b.division.cores - a.division.cores || a.pid - b.pid);
}

/** Current action of the arbiter on the program. */
export function divisionState({ state }: CoreDivision): string {
  return STATES[state];
}

export function claimText({ share, floor, priority }: CoreDivision): string {
  const parts = [`share ${share}`];
  if (floor > 0) parts.push(`floor ${floor}`);
  if (priority !== 0) parts.push(`priority ${priority}`);
  return parts.join(", ");
}

/** Expected effect of one core more, and one less. */
export function marginText({ state, more_percent, less_percent }: CoreDivision): string {
  if (state === "absent" || state === "idle") return "";
  const more =
    more_percent === null
      ? "It can have no more cores"
      : more_percent < 0
        ? `One core more is expected to cost ${percent(-more_percent)}`
        : `One core more is expected to bring ${percent(more_percent)}`;
  const less =
    less_percent === null
      ? "it can have no fewer"
      : less_percent < 0
        ? `one less, to bring ${percent(-less_percent)}`
        : `one less, to cost ${percent(less_percent)}`;
  return `${more}; ${less}.`;
}

/** Start of the current allocation, by this browser's clock. */
export function sinceText({ changed_unix_us }: CoreDivision): string {
  return `since ${new Date(changed_unix_us / 1000).toLocaleTimeString("en-GB")}`;
}

function percent(value: number): string {
  return value > 0 && value < 1 ? "less than 1 %" : `${Math.round(value)} %`;
}
