/**
 * What the thread map is stacked by: roles; or the processes of a group, each folded to one stack or
 * unfolded to its roles below a heading. Many processes are stacked by their names.
 */

import type { ProcessLife } from "./lined";
import type { RoleLanes } from "./mapLanes";
import { roleColour, SHADES, type Thread } from "./threads";
import type { MapRequest, ThreadKey } from "./viewRequest";

/** More processes in view than the first are stacked by name, until there are fewer than the second. */
const MANY = 80;
const FEW = 50;

/** Threads whose process is not known yet. */
const UNKNOWN: ThreadKey = "process:";

export interface Stacking {
  /** The stacking as text: the same text, the same stacks. */
  readonly name: string;
  /** Stack of a thread. */
  readonly of: (thread: Thread) => string;
  /** Stacks with their names, headings among them, in their order. */
  readonly arranged: (stacks: readonly RoleLanes[]) => readonly RoleLanes[];
}

/** By role, in order of appearance. */
export const BY_ROLE: Stacking = {
  name: "role",
  of: ({ role }) => role,
  arranged: (stacks) => stacks,
};

/**
 * What a request is stacked by.
 *
 * @param before What held until now: near the bound it stays.
 */
export function stackingFor(
  { by, open }: Pick<MapRequest, "by" | "open">,
  processes: number,
  before: Stacking | null,
): Stacking {
  if (by === "role" || processes === 0) return BY_ROLE;
  const named = before?.name.startsWith("name ") ? processes >= FEW : processes > MANY;
  const unfolded = new Set(open);
  const keyOf = named ? nameKeyOf : processKeyOf;
  return {
    name: `${named ? "name" : "process"} ${open.join()}`,
    of: (thread) => {
      const key = keyOf(thread);
      return unfolded.has(key) ? `${key}/${thread.role}` : key;
    },
    arranged: (stacks) => arrangedBy(stacks, keyOf, named, unfolded),
  };
}

/** How many processes some threads are of. */
export function countProcesses(threads: Iterable<Thread>): number {
  const found = new Set<ProcessLife>();
  for (const { process } of threads) if (process) found.add(process);
  return found.size;
}

const processKeyOf = ({ process }: Thread): ThreadKey => process?.key ?? UNKNOWN;
const nameKeyOf = ({ process }: Thread): ThreadKey => (process ? `name:${process.name}` : UNKNOWN);

function arrangedBy(
  stacks: readonly RoleLanes[],
  keyOf: (thread: Thread) => ThreadKey,
  named: boolean,
  unfolded: ReadonlySet<ThreadKey>,
): readonly RoleLanes[] {
  const groups = new Map<ThreadKey, { readonly first: Thread; readonly stacks: RoleLanes[] }>();
  for (const stack of stacks) {
    const first = stack.lanes[0]?.threads[0];
    if (!first) continue;
    const key = keyOf(first);
    const held = groups.get(key);
    if (held) held.stacks.push(stack);
    else groups.set(key, { first, stacks: [stack] });
  }
  const sorted = [...groups].sort(([, a], [, b]) => inOrder(a.first.process, b.first.process));
  return sorted.flatMap(([fold, { first, stacks: own }]): readonly RoleLanes[] => {
    const { process } = first;
    const label = process ? (named ? process.name : `${process.name} ${process.pid}`) : "unknown";
    const colour = process ? process.colour - (named ? process.pid % SHADES : 0) : 0;
    const process_stack = { role: label, roleIndex: first.roleIndex, colour, fold };
    if (!unfolded.has(fold)) {
      return own.map((stack) => ({ ...process_stack, lanes: stack.lanes, heading: false }));
    }
    const roles = own.map((stack): RoleLanes => {
      const thread = stack.lanes[0]?.threads[0] ?? first;
      const { role, roleIndex, hue } = thread;
      return { ...stack, role, roleIndex, colour: roleColour(hue) };
    });
    return [{ ...process_stack, lanes: [], heading: true }, ...roles];
  });
}

/** In order of appearance; those that are not known last. */
function inOrder(a: ProcessLife | null, b: ProcessLife | null): number {
  if (!a || !b) return Number(a === null) - Number(b === null);
  return a.seen_s - b.seen_s || a.pid - b.pid;
}
