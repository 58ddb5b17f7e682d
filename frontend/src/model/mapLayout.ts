/** Rows of the thread map: threads sorted by role, several a row if there are more than rows. */

import { roleColour, type Thread } from "./threads";

/** Neighbouring rows of one role. */
export interface MapGroup {
  readonly role: string;
  readonly colour: number;
  /** First row, and how many. */
  readonly row: number;
  readonly rows: number;
  readonly threads: number;
}

/** Which threads stand where. */
export interface MapLayout {
  readonly rows: number;
  /** Int32[rows + 1]: place of each row's first thread in the arrays below. */
  readonly first: Int32Array;
  /** Threads in row order: thread id, start in ns since attach, name, colour. */
  readonly tid: Uint32Array;
  readonly start_ns: Float64Array;
  readonly names: readonly string[];
  readonly colours: Uint32Array;
  readonly groups: readonly MapGroup[];
  /** Most threads that share a row; 1: none do. */
  readonly per_row: number;
}

/** In the order of the map: by role in order of appearance, in a role by age. */
export function mapOrder(threads: Iterable<Thread>): Thread[] {
  return [...threads].sort(
    (a, b) =>
      a.roleIndex - b.roleIndex ||
      (a.role < b.role ? -1 : a.role > b.role ? 1 : 0) ||
      a.start_ns - b.start_ns ||
      a.tid - b.tid,
  );
}

/** Threads that stand next to each other and have one role. */
interface Run {
  readonly from: number;
  readonly to: number;
}

function runsOf(order: readonly Thread[]): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (let i = 1; i <= order.length; i++) {
    if (i < order.length && order[i]?.role === order[from]?.role) continue;
    if (i > from) runs.push({ from, to: i });
    from = i;
  }
  return runs;
}

/** Rows that runs take with so many threads a row. */
function rowsOf(runs: readonly Run[], perRow: number): number {
  return runs.reduce((sum, { from, to }) => sum + Math.ceil((to - from) / perRow), 0);
}

/**
 * Give threads their rows. A row holds threads of one role only, unless there are more roles than
 * rows.
 *
 * @param order As `mapOrder` gives them.
 * @param most Rows there is room for, at least 1.
 */
export function layoutOf(order: readonly Thread[], most: number): MapLayout {
  const room = Math.max(1, Math.floor(most));
  let runs = runsOf(order);
  if (runs.length > room) runs = [{ from: 0, to: order.length }];
  let perRow = 1;
  while (rowsOf(runs, perRow) > room) {
    // No fewer can do; then a few steps more, since each role rounds up.
    perRow = Math.max(perRow + 1, Math.ceil(order.length / room));
  }
  const first: number[] = [];
  const groups: MapGroup[] = [];
  for (const { from, to } of runs) {
    const thread = order[from];
    const row = first.length;
    for (let at = from; at < to; at += perRow) first.push(at);
    const mixed = thread?.role !== order[to - 1]?.role;
    groups.push({
      role: mixed ? "all roles" : (thread?.role ?? ""),
      colour: roleColour(thread?.roleIndex ?? 0),
      row,
      rows: first.length - row,
      threads: to - from,
    });
  }
  const rows = first.length;
  first.push(order.length);
  return {
    rows,
    first: Int32Array.from(first),
    tid: Uint32Array.from(order, (thread) => thread.tid),
    start_ns: Float64Array.from(order, (thread) => thread.start_ns),
    names: order.map((thread) => thread.name),
    colours: Uint32Array.from(order, (thread) => thread.colour),
    groups,
    per_row: perRow,
  };
}

/** Row in which a place of the layout's arrays is. */
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
