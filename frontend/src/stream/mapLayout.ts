/**
 * Rows of the thread map: lanes of threads by role, with several lanes per row if they outnumber
 * the rows.
 */

import type { Lane, RoleLanes } from "./mapLanes";
import { roleColour, type Thread } from "./threads";
import type { ThreadKey } from "./viewRequest";

/** Adjacent rows of one role or process. */
export interface MapGroup {
  readonly role: string;
  readonly colour: number;
  /** Key that folds or unfolds the group; null if it cannot be folded. */
  readonly fold: ThreadKey | null;
  /** A heading line. */
  readonly heading: boolean;
  /** First row, and number of rows. */
  readonly row: number;
  readonly rows: number;
  readonly threads: number;
}

/** Placement of threads in rows. */
export interface MapLayout {
  readonly rows: number;
  /** Int32[rows + 1]: index of each row's first thread in the arrays below. */
  readonly first: Int32Array;
  /**
   * Uint16[rows]: number of threads that left a row's start, modulo 65,536. A thread's constant
   * number in its row is this count plus its index in the row.
   */
  readonly gone: Uint16Array;
  /** Threads in row order: thread ID, start in ns since attach, name, colour. */
  readonly tid: Uint32Array;
  readonly start_ns: Float64Array;
  readonly names: readonly string[];
  /** Process of each thread in a group, such as "nginx (4711)"; else "". */
  readonly processes: readonly string[];
  readonly colours: Uint32Array;
  /** Lifetime of each thread, in seconds since attach; infinite end while alive. */
  readonly from_s: Float64Array;
  readonly until_s: Float64Array;
  readonly groups: readonly MapGroup[];
  /** Number of rows without concurrent sharing. */
  readonly lanes: number;
  /** Uint16[rows]: maximum number of concurrent threads in a row. */
  readonly together: Uint16Array;
  /** Maximum of `together`; 1 if no row is shared concurrently. */
  readonly per_row: number;
}

export const NO_LAYOUT: MapLayout = layoutOf([], 1);

/**
 * Assign lanes to rows. A row holds threads of one role only, unless roles outnumber rows. If lanes
 * outnumber rows, lanes of the largest roles share rows.
 * @param roles As returned by `MapLanes`.
 * @param most Maximum number of rows, at least 1.
 */
export function layoutOf(roles: readonly RoleLanes[], most: number): MapLayout {
  const room = Math.max(1, Math.floor(most));
  const stacks = roles.length > room ? [allOf(roles)] : roles;
  const rowsOf = shareRows(
    stacks.map(({ lanes, heading }) => (heading ? 1 : lanes.length)),
    room,
  );
  const order: Thread[] = [];
  const first: number[] = [];
  const groups: MapGroup[] = [];
  for (const [at, { role, lanes, ...stack }] of stacks.entries()) {
    const rows = rowsOf[at] ?? 0;
    const from = order.length;
    const row = first.length;
    for (let r = 0; r < rows; r++) {
      first.push(order.length);
      const own = lanes.slice(
        Math.ceil((r * lanes.length) / rows),
        Math.ceil(((r + 1) * lanes.length) / rows),
      );
      for (const { threads } of own) order.push(...threads);
    }
    const threads = order.length - from;
    const hue = lanes[0]?.threads[0]?.hue ?? 0;
    const { colour = roleColour(hue), fold = null, heading = false } = stack;
    groups.push({ role, colour, fold, heading, row, rows, threads });
  }
  const rows = first.length;
  first.push(order.length);
  const together = Uint16Array.from({ length: rows }, (_, row) =>
    mostAtOnce(order.slice(first[row], first[row + 1])),
  );
  return {
    rows,
    first: Int32Array.from(first),
    gone: new Uint16Array(rows),
    tid: Uint32Array.from(order, (thread) => thread.tid),
    start_ns: Float64Array.from(order, (thread) => thread.start_ns),
    names: order.map((thread) => thread.name),
    processes: order.map(({ process }) => (process ? `${process.name} (${process.pid})` : "")),
    colours: Uint32Array.from(order, (thread) => thread.colour),
    from_s: Float64Array.from(order, (thread) => thread.from_s),
    until_s: Float64Array.from(order, (thread) => thread.until_s ?? Number.POSITIVE_INFINITY),
    groups,
    lanes: stacks.reduce((sum, { lanes }) => sum + lanes.length, 0),
    together,
    per_row: together.reduce((a, b) => Math.max(a, b), 1),
  };
}

/** A layout and its threads, in row order. */
export interface Placed {
  readonly layout: MapLayout;
  readonly order: readonly Thread[];
}

/**
 * The later of two layouts, with each thread's number in its row preserved. Null if rows changed,
 * which invalidates all cells.
 */
export function continued(before: Placed, now: Placed): MapLayout | null {
  const { layout } = now;
  const past = before.layout;
  if (layout.rows !== past.rows || layout.groups.length !== past.groups.length) return null;
  for (const [at, { role, row, rows }] of layout.groups.entries()) {
    const other = past.groups[at];
    if (role !== other?.role || row !== other.row || rows !== other.rows) return null;
  }
  const gone = Uint16Array.from(past.gone);
  for (let row = 0; row < layout.rows; row++) {
    const [from = 0, end = 0] = [layout.first[row], layout.first[row + 1]];
    const [pastFrom = 0, pastEnd = 0] = [past.first[row], past.first[row + 1]];
    // A heading has no threads.
    if (from === end && pastFrom === pastEnd) continue;
    const left = before.order.indexOf(now.order[from] as Thread, pastFrom) - pastFrom;
    const kept = pastEnd - pastFrom - left;
    if (left < 0 || kept <= 0 || kept > end - from) return null;
    for (let i = 0; i < kept; i++) {
      if (before.order[pastFrom + left + i] !== now.order[from + i]) return null;
    }
    gone[row] = (gone[row] ?? 0) + left;
  }
  return { ...layout, gone };
}

/** Threads of the roles, in row order. */
export function orderOf(roles: readonly RoleLanes[]): readonly Thread[] {
  return roles.flatMap(({ lanes }) => lanes.flatMap(({ threads }) => threads));
}

function allOf(roles: readonly RoleLanes[]): RoleLanes {
  const lanes = roles.flatMap((role): readonly Lane[] => role.lanes);
  return { role: "all roles", roleIndex: roles[0]?.roleIndex ?? 0, lanes };
}

/** Rows per stack: one per lane if they fit; otherwise large stacks shrink first. */
function shareRows(lanes: readonly number[], room: number): readonly number[] {
  const sumAt = (cap: number) => lanes.reduce((sum, count) => sum + Math.min(count, cap), 0);
  let cap = Math.max(0, ...lanes);
  if (sumAt(cap) > room) {
    let low = 1;
    while (low < cap) {
      const middle = (low + cap + 1) >> 1;
      if (sumAt(middle) <= room) low = middle;
      else cap = middle - 1;
    }
  }
  const rows = lanes.map((count) => Math.min(count, cap));
  let left = room - rows.reduce((a, b) => a + b, 0);
  for (const [at, count] of lanes.entries()) {
    if (left <= 0 || count <= (rows[at] ?? 0)) continue;
    rows[at] = (rows[at] ?? 0) + 1;
    left--;
  }
  return rows;
}

/** Maximum number of concurrent threads. */
function mostAtOnce(threads: readonly Thread[]): number {
  if (threads.length < 2) return threads.length;
  const births = Float64Array.from(threads, ({ from_s }) => from_s).sort();
  const ends = Float64Array.from(
    threads,
    ({ until_s }) => until_s ?? Number.POSITIVE_INFINITY,
  ).sort();
  let [most, ended] = [1, 0];
  for (const [born, from_s] of births.entries()) {
    while ((ends[ended] ?? Number.POSITIVE_INFINITY) < from_s) ended++;
    most = Math.max(most, born + 1 - ended);
  }
  return most;
}

/** Row of an index into the layout's arrays. */
export function rowAt(layout: MapLayout, place: number): number {
  let low = 0;
  let high = layout.rows - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((layout.first[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function groupAt({ groups }: MapLayout, row: number): MapGroup | undefined {
  return groups.find((each) => row >= each.row && row < each.row + each.rows);
}

/** Folding key of a row's group, or of the heading above it. */
export function foldOf({ groups }: MapLayout, row: number): ThreadKey | null {
  const own = groups.findIndex((each) => row >= each.row && row < each.row + each.rows);
  for (let at = own; at >= 0; at--) {
    const { fold = null } = groups[at] ?? {};
    if (fold !== null) return fold;
  }
  return null;
}

/** Number of threads in a row, concurrent or consecutive. */
export function threadsOf({ first }: MapLayout, row: number): number {
  return (first[row + 1] ?? 0) - (first[row] ?? 0);
}

/** Index of the row's thread alive at a moment, or nearest to the moment. */
export function nearestPlace(layout: MapLayout, row: number, t_s: number): number {
  const { first, from_s, until_s } = layout;
  const from = first[row] ?? 0;
  const end = first[row + 1] ?? from;
  let [nearest, least_s] = [from, Number.POSITIVE_INFINITY];
  for (let place = from; place < end; place++) {
    const away_s = Math.max(0, (from_s[place] ?? 0) - t_s, t_s - (until_s[place] ?? 0));
    if (away_s < least_s) [nearest, least_s] = [place, away_s];
  }
  return nearest;
}

/** Number of a row's threads that existed within a time span. */
export function countWithin(layout: MapLayout, row: number, t0_s: number, t1_s: number): number {
  const { first, from_s, until_s } = layout;
  let count = 0;
  for (let place = first[row] ?? 0; place < (first[row + 1] ?? 0); place++) {
    if ((from_s[place] ?? 0) < t1_s && (until_s[place] ?? 0) >= t0_s) count++;
  }
  return count;
}
