/** Choices for the programs of a group, and the resulting request. Pure. */

import type {
  ProgramChoice,
  ProgramOptions,
  SteeredProgram,
  SteerRequest,
} from "../../wire/generated/models";
import { type Field, wrongNumber } from "./draft";

/** Typed values for one program; omitted ones are the knob's own. */
export interface ProgramEdits {
  readonly lower?: string;
  readonly upper?: string;
  readonly share?: string;
  readonly floor?: string;
  readonly priority?: string;
}

/** Name of the policy that divides cores among programs. */
export const ARBITER = "arbiter";

/** A program's claim on the arbiter; empty means the default. */
export interface ClaimFields {
  readonly share: Field;
  readonly floor: Field;
  readonly priority: Field;
}

/** Unapplied choices. */
export interface GroupEdits {
  /** Boxes changed by the user, by process ID; the default depends on steerability. */
  readonly checked: Readonly<Record<number, boolean>>;
  readonly programs: Readonly<Record<number, ProgramEdits>>;
  readonly join: boolean | null;
  readonly shadow: boolean | null;
}

export const NO_GROUP_EDITS: GroupEdits = { checked: {}, programs: {}, join: null, shadow: null };

/** Sort programs: steerable ones first, and within each class steered ones first. */
export function ranked(programs: readonly ProgramOptions[]): {
  readonly able: readonly ProgramOptions[];
  readonly others: readonly ProgramOptions[];
} {
  return {
    able: programs.filter(({ refusal }) => refusal === ""),
    others: programs.filter(({ refusal }) => refusal !== ""),
  };
}

/** Group unsteerable programs by name and reason, so that forty of them take one line. */
export function alike(others: readonly ProgramOptions[]): readonly {
  readonly name: string;
  readonly refusal: string;
  readonly pids: readonly number[];
}[] {
  const groups = new Map<string, { name: string; refusal: string; pids: number[] }>();
  for (const { name, refusal, pid } of others) {
    // The reason may contain its own ID, and paths of its socket.
    const reason = refusal.replaceAll(String(pid), "…");
    const key = `${name}\n${reason}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { name, refusal, pids: [pid] });
    else known.pids.push(pid);
  }
  return [...groups.values()];
}

/** Whether a program's box is checked. Default: all before any steering, later the steered ones. */
export function isChecked(
  program: ProgramOptions,
  steered: readonly SteeredProgram[],
  edits: GroupEdits,
): boolean {
  const own = edits.checked[program.pid];
  if (own !== undefined) return own;
  return steered.length === 0 || steered.some(({ pid }) => pid === program.pid);
}

/** The best usable knob of a program. */
export function bestKnob(program: ProgramOptions) {
  return program.knobs.find(({ refusal }) => refusal === "");
}

/** The best readable signal of a program. */
export function bestSignal(program: ProgramOptions) {
  return program.signals.find(({ refusal }) => refusal === "");
}

/** The fields of a program's bounds; empty means the knob's own. */
export function programBounds(
  program: ProgramOptions,
  edits: GroupEdits,
): { readonly lower: Field; readonly upper: Field } {
  const { lower = 1, upper = 1048576 } = bestKnob(program) ?? {};
  const typed = edits.programs[program.pid] ?? {};
  const field = (text: string): Field => ({
    text,
    wrong: text.trim() === "" ? "" : wrongNumber(text, lower ?? 1, upper ?? 1048576, true),
  });
  const low = field(typed.lower ?? String(program.steering?.lower ?? ""));
  const high = field(typed.upper ?? String(program.steering?.upper ?? ""));
  const both = low.text.trim() !== "" && high.text.trim() !== "";
  const crossed =
    low.wrong === "" && high.wrong === "" && both && Number(low.text) > Number(high.text);
  return {
    lower: low,
    upper: crossed ? { ...high, wrong: "Must not be below the lower bound." } : high,
  };
}

/** The fields of a program's claim on the arbiter. */
export function programClaim(program: ProgramOptions, edits: GroupEdits): ClaimFields {
  const typed = edits.programs[program.pid] ?? {};
  const known = program.steering?.division;
  const field = (own: string | undefined, now: number | undefined, low: number, high: number) => {
    const text = own ?? String(now ?? "");
    return {
      text,
      wrong: text.trim() === "" ? "" : wrongNumber(text, low, high, low !== MIN_SHARE),
    };
  };
  return {
    share: field(typed.share, known?.share, MIN_SHARE, 1000),
    floor: field(typed.floor, known?.floor, 0, 4096),
    priority: field(typed.priority, known?.priority, -100, 100),
  };
}

/** Minimum share. */
const MIN_SHARE = 0.01;

/** The request for the checked programs. */
export function groupRequest(
  policy: string,
  programs: readonly ProgramOptions[],
  edits: GroupEdits,
  now: { readonly join: boolean; readonly shadow: boolean },
): SteerRequest {
  const chosen = programs.map((program): ProgramChoice => {
    const { lower, upper } = programBounds(program, edits);
    const own = { pid: program.pid, lower: numberOf(lower), upper: numberOf(upper) };
    if (policy !== ARBITER) return own;
    const { share, floor, priority } = programClaim(program, edits);
    return {
      ...own,
      share: numberOf(share),
      floor: numberOf(floor),
      priority: numberOf(priority),
    };
  });
  return {
    policy,
    parameters: {},
    shadow: edits.shadow ?? now.shadow,
    programs: chosen,
    join: edits.join ?? now.join,
  };
}

function numberOf({ text }: Field): number | null {
  return text.trim() === "" ? null : Number(text);
}
