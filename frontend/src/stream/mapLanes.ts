/**
 * Lanes of the thread map: within a role, lives that do not overlap share a lane. A thread keeps
 * its lane while visible, so that nothing jumps while time scrolls.
 */

import type { ProcessLife } from "./chartItem";
import { SHADES } from "./roleHues";
import { roleColour, type Thread } from "./threads";
import type { MapRequest, ThreadKey } from "./viewRequest";

/**
 * Maximum number of lanes per role with only ended threads. Further ended threads share these, so
 * that thousands of short lives do not push others off the map.
 */
export const ENDED_LANES = 8;

/** Consecutive threads, in order of birth; some overlap in shared lanes. */
export interface Lane {
  readonly threads: readonly Thread[];
  /** End of the last thread; infinite while one is alive. */
  readonly end_s: number;
}

/** Lanes of one role, or of another stacking unit of the map. */
export interface RoleLanes {
  readonly role: string;
  readonly roleIndex: number;
  readonly lanes: readonly Lane[];
  /** Colour; the role's if omitted. */
  readonly colour?: number;
  /** Folding key: its process, or all processes of one name. */
  readonly fold?: ThreadKey;
  /** A heading line above the stacks of a process. */
  readonly heading?: boolean;
}

/** Working state while threads are placed. */
interface Open {
  readonly lanes: Lane[];
  /** Earliest end of a lane. */
  free_s: number;
}

export class MapLanes {
  private readonly roles = new Map<string, Open>();

  /**
   * @param gap_s Minimum time between two lives in a lane: closer ones would look like one.
   * @param stackOf Stack of a thread; threads of one stack share lanes. Default: by role.
   */
  constructor(
    private readonly gap_s: number,
    private readonly stackOf: (thread: Thread) => string = ({ role }) => role,
  ) {}

  /**
   * Assign lanes to new threads, and forget invisible ones. Empty lanes are removed; the others
   * keep their order.
   * @returns Roles in order of appearance.
   */
  update(threads: Iterable<Thread>): readonly RoleLanes[] {
    const fresh = new Set(threads);
    for (const [role, { lanes }] of this.roles) {
      const kept = lanes
        .map((lane) =>
          lane.threads.filter((each) => this.stackOf(each) === role && fresh.has(each)),
        )
        .filter((each) => each.length > 0)
        .map(laneOf);
      for (const lane of kept) for (const thread of lane.threads) fresh.delete(thread);
      if (kept.length > 0) this.roles.set(role, openOf(kept));
      else this.roles.delete(role);
    }
    for (const thread of [...fresh].sort(byBirth)) this.place(thread);
    return [...this.roles]
      .map(([role, { lanes }]) => ({
        role,
        roleIndex: lanes[0]?.threads[0]?.roleIndex ?? 0,
        lanes,
      }))
      .sort((a, b) => a.roleIndex - b.roleIndex || (a.role < b.role ? -1 : 1));
  }

  /** Put a thread into the first free lane, or else a new or a shared one. */
  private place(thread: Thread): void {
    const { from_s, until_s } = thread;
    const role = this.stackOf(thread);
    const open = this.roles.get(role) ?? openOf([]);
    this.roles.set(role, open);
    const { lanes } = open;
    const isFree = ({ end_s }: Lane) => end_s + this.gap_s <= from_s;
    let at = open.free_s + this.gap_s <= from_s ? lanes.findIndex(isFree) : -1;
    if (at < 0 && until_s !== null) at = sharedLane(lanes);
    const before = lanes[at];
    if (before === undefined) {
      const lane = laneOf([thread]);
      lanes.push(lane);
      open.free_s = Math.min(open.free_s, lane.end_s);
      return;
    }
    lanes[at] = laneOf([...before.threads, thread]);
    if (before.end_s <= open.free_s) open.free_s = openOf(lanes).free_s;
  }
}

/** Index of the lane of ended threads that ends first; -1 while more lanes are allowed. */
function sharedLane(lanes: readonly Lane[]): number {
  let [ended, first] = [0, -1];
  for (const [at, { end_s }] of lanes.entries()) {
    if (end_s === Number.POSITIVE_INFINITY) continue;
    ended++;
    if (first < 0 || end_s < (lanes[first]?.end_s ?? 0)) first = at;
  }
  return ended < ENDED_LANES ? -1 : first;
}

function laneOf(threads: readonly Thread[]): Lane {
  let end_s = Number.NEGATIVE_INFINITY;
  for (const { until_s } of threads) end_s = Math.max(end_s, until_s ?? Number.POSITIVE_INFINITY);
  return { threads, end_s };
}

function openOf(lanes: Lane[]): Open {
  return {
    lanes,
    free_s: lanes.reduce((least, { end_s }) => Math.min(least, end_s), Number.POSITIVE_INFINITY),
  };
}

function byBirth(a: Thread, b: Thread): number {
  return a.from_s - b.from_s || a.start_ns - b.start_ns || a.tid - b.tid;
}

/**
 * Thresholds with hysteresis: above the first number of visible processes stacking is by name,
 * below the second by process.
 */
const MANY = 80;
const FEW = 50;

/** Threads whose process is still unknown. */
const UNKNOWN: ThreadKey = "process:";

export interface Stacking {
  /** Identity of the stacking: equal text means equal stacks. */
  readonly name: string;
  /** Stack of a thread. */
  readonly of: (thread: Thread) => string;
  /** Ordered stacks with their names and headings. */
  readonly arranged: (stacks: readonly RoleLanes[]) => readonly RoleLanes[];
}

/** Stacking by role, in order of appearance. */
export const BY_ROLE: Stacking = {
  name: "role",
  of: ({ role }) => role,
  arranged: (stacks) => stacks,
};

/**
 * Stacking for a request.
 * @param before Previous stacking, kept near the threshold.
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

/** Number of processes that some threads belong to. */
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

/** Order of appearance, with unknown processes last. */
function inOrder(a: ProcessLife | null, b: ProcessLife | null): number {
  if (!a || !b) return Number(a === null) - Number(b === null);
  return a.seen_s - b.seen_s || a.pid - b.pid;
}
