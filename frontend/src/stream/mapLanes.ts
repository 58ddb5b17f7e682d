/**
 * Lanes of the thread map: within a role, lives that do not overlap lie behind one another in one
 * lane. A thread keeps its lane as long as it is in view, so that nothing jumps while time scrolls.
 */

import type { Thread } from "./threads";
import type { ThreadKey } from "./viewRequest";

/**
 * So many lanes of a role may hold nothing but ended threads. Further ended ones share these, so that
 * thousands of short lives do not push others to the edge.
 */
export const ENDED_LANES = 8;

/** Threads one behind the other, in order of birth; where lanes are shared some overlap. */
export interface Lane {
  readonly threads: readonly Thread[];
  /** When the last of them ends; infinite while one lives. */
  readonly end_s: number;
}

/** Lanes of one role, or of what else the map is stacked by (mapStacks.ts). */
export interface RoleLanes {
  readonly role: string;
  readonly roleIndex: number;
  readonly lanes: readonly Lane[];
  /** Without one, that of the role. */
  readonly colour?: number;
  /** What folds it: key of its process, or of all processes of one name. */
  readonly fold?: ThreadKey;
  /** A line with a name alone, above the stacks of a process. */
  readonly heading?: boolean;
}

/** The same while threads are placed. */
interface Open {
  readonly lanes: Lane[];
  /** The earliest end of a lane. */
  free_s: number;
}

export class MapLanes {
  private readonly roles = new Map<string, Open>();

  /**
   * @param gap_s Time that must lie between two lives of a lane: else they look like one.
   * @param stackOf Threads of one stack share lanes: by role unless given.
   */
  constructor(
    private readonly gap_s: number,
    private readonly stackOf: (thread: Thread) => string = ({ role }) => role,
  ) {}

  /**
   * Give new threads their lanes, and forget those that are not in view any more. Lanes that are
   * empty then go; others keep their order.
   *
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

  /** Put a thread into the first lane that is free; else into one of its own, or a shared one. */
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

/** Place of the lane of ended threads that ends first; -1 while there may be more of them. */
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
