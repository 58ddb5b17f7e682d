/** What an arbiter gives a program, in words. Pure. */

import type { DivisionView } from "../../stream/steerView";
import type { CoreDivision, Target } from "../../wire/generated/models";

/** A program among which cores are divided. */
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

/** The programs of a target that have a division, those with the most cores first. */
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

/** The same of a run, by its decisions up to a moment. */
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

/** What the arbiter does with it at the moment. */
export function divisionState({ state }: CoreDivision): string {
  return STATES[state];
}

/** What it asks for. */
export function claimText({ share, floor, priority }: CoreDivision): string {
  const parts = [`share ${share}`];
  if (floor > 0) parts.push(`floor ${floor}`);
  if (priority !== 0) parts.push(`priority ${priority}`);
  return parts.join(", ");
}

/** What one core more, and one less, is expected to do. */
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

/** Since when it has so many cores, by the clock of this browser. */
export function sinceText({ changed_unix_us }: CoreDivision): string {
  return `since ${new Date(changed_unix_us / 1000).toLocaleTimeString("en-GB")}`;
}

function percent(value: number): string {
  return value > 0 && value < 1 ? "less than 1 %" : `${Math.round(value)} %`;
}
