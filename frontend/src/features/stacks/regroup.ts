/**
 * Transformations of a tree of stacks: frames are hidden, merged by function or module, and
 * recursion is folded. Time is moved, never lost: sums of all roots stay the same. Pure.
 */

import type { StackFrame } from "../../wire/generated/models";
import { functionKey, isRuntime, moduleOf } from "./frames";
import { SpreadMean } from "./intervals";

/** How stacks are shown. */
export interface Grouping {
  /** A function that calls itself, directly or through others, is one box. */
  readonly foldRecursion: boolean;
  /** Frames of runtimes and of the start of threads are left out. */
  readonly hideRuntime: boolean;
  readonly hideKernel: boolean;
  /** Frames of one library or executable in a row are one box. */
  readonly byModule: boolean;
}

export const PLAIN: Grouping = {
  foldRecursion: false,
  hideRuntime: false,
  hideKernel: false,
  byModule: false,
};

/** A tree as the backend sends it: parents precede their children. */
export interface StackColumns {
  readonly frames: readonly StackFrame[];
  readonly nodes: readonly { readonly parent: number; readonly frame: number }[];
  /** Values of a row with its subtree, such as ns and samples, by set and row; at least one set. */
  readonly amounts: readonly (readonly number[])[];
  /** Value in which the row is the innermost frame, by row. */
  readonly own: readonly number[];
  /** Spreads of amounts; see intervals.ts. */
  readonly spreads: readonly SpreadColumn[];
}

/** Spreads of one set of amounts. */
interface SpreadColumn {
  /** Index of the set in `amounts`, and of the numbers of its samples; null if unknown. */
  readonly of: number;
  readonly samples: number | null;
  /** Values by row. */
  readonly values: readonly number[];
}

/** A line of a function, and the value of the first set below calls from that line. */
export interface LineShare {
  readonly line: number;
  readonly amount: number;
}

/** The transformed tree; parents precede their children. */
export interface Regrouped {
  readonly frame: readonly StackFrame[];
  readonly parent: readonly number[];
  readonly amounts: readonly (readonly number[])[];
  readonly own: readonly number[];
  /** Spreads by spread column and row. */
  readonly spreads: readonly (readonly number[])[];
  /** Lines of each function, greatest first; empty if unknown. */
  readonly lines: readonly (readonly LineShare[])[];
  /** Source row with the same samples, by row; null if rows were merged or cut. */
  readonly source: readonly (number | null)[];
}

/** Frame of stacks of which nothing is left. */
const HIDDEN: StackFrame = {
  kind: "unknown",
  function: "hidden frames only",
  file: "",
  line: 0,
  module: "",
  inlined: false,
  named: true,
};

/** A row under construction. */
interface Row {
  readonly key: string;
  readonly frame: StackFrame;
  readonly parent: number;
  readonly children: Map<string, number>;
  readonly amounts: number[];
  own: number;
  /** Rows of the source whose subtrees make up this row; none lies below another. */
  readonly tops: number[];
  readonly spreads: readonly SpreadMean[];
  readonly lines: Map<number, number>;
}

/** Relative difference below which two sums are the same: sums are off in their last bits. */
const SAME = 1e-9;

/** Transform a tree. */
export function regrouped(columns: StackColumns, grouping: Grouping): Regrouped {
  const { frames, nodes, amounts } = columns;
  const rows: Row[] = [];
  const roots = new Map<string, number>();
  /** Row of each source row; -1: above all roots. */
  const image: number[] = [];
  const rest = amounts.map((set) => withoutChildren(nodes, set));

  const childOf = (parent: number, key: string, frame: StackFrame): number => {
    const among = parent < 0 ? roots : (rows[parent]?.children ?? roots);
    const known = among.get(key);
    if (known !== undefined) return known;
    const made = rows.length;
    rows.push({
      ...{ key, frame, parent, children: new Map(), own: 0, tops: [], lines: new Map() },
      amounts: amounts.map(() => 0),
      spreads: columns.spreads.map(() => new SpreadMean()),
    });
    among.set(key, made);
    return made;
  };

  for (const [at, { parent, frame: number }] of nodes.entries()) {
    const frame = frames[number] ?? HIDDEN;
    const above = parent < 0 ? -1 : (image[parent] ?? -1);
    const key = keyOf(frame, grouping);
    const place = isHidden(frame, grouping)
      ? above
      : (ancestorOf(rows, above, key, grouping) ??
        childOf(above, key, grouping.byModule ? moduleFrame(frame) : frame));
    image[at] = place;
    const own = columns.own[at] ?? 0;
    const left = rest.map((set) => set[at] ?? 0);
    const holdsSome = own > 0 || left.some((value) => value > 0);
    const home = place >= 0 || !holdsSome ? place : childOf(-1, "", HIDDEN);
    const row = rows[home];
    if (row === undefined) continue;
    row.own += own;
    for (const [set, value] of left.entries()) {
      row.amounts[set] = (row.amounts[set] ?? 0) + value;
    }
    const top = place >= 0 && isTop(nodes, image, at, place);
    if (place >= 0 && !top) continue;
    for (const [column, { of, samples, values }] of columns.spreads.entries()) {
      const weight = (top ? amounts[of]?.[at] : left[of]) ?? 0;
      const number = samples === null ? undefined : amounts[samples]?.[at];
      row.spreads[column]?.add(values[at] ?? 0, weight, number);
    }
    if (!top) continue;
    row.tops.push(at);
    if (frame.line > 0 && !grouping.byModule) {
      const amount = amounts[0]?.[at] ?? 0;
      row.lines.set(frame.line, (row.lines.get(frame.line) ?? 0) + amount);
    }
  }
  return finished(rows, columns);
}

/** Values without those of the children: what ends in the row itself or was left out below it. */
function withoutChildren(nodes: StackColumns["nodes"], values: readonly number[]): number[] {
  const rest = [...values];
  for (const [at, { parent }] of nodes.entries()) {
    if (parent >= 0) rest[parent] = (rest[parent] ?? 0) - (values[at] ?? 0);
  }
  // Sums are off in their last bits.
  return rest.map((value, at) => (value > SAME * (values[at] ?? 0) ? value : 0));
}

function isHidden(frame: StackFrame, { hideRuntime, hideKernel }: Grouping): boolean {
  return (hideKernel && frame.kind === "kernel") || (hideRuntime && isRuntime(frame));
}

function keyOf(frame: StackFrame, { byModule }: Grouping): string {
  return byModule ? moduleOf(frame) : functionKey(frame);
}

/** The module in place of its functions. */
function moduleFrame(frame: StackFrame): StackFrame {
  return { ...frame, function: moduleOf(frame), file: "", line: 0, inlined: false };
}

/** The caller that a frame is part of: itself by recursion, or the same module; else null. */
function ancestorOf(
  rows: readonly Row[],
  above: number,
  key: string,
  { foldRecursion, byModule }: Grouping,
): number | null {
  if (byModule && rows[above]?.key === key) return above;
  if (!foldRecursion) return null;
  for (let at = above; at >= 0; at = rows[at]?.parent ?? -1) {
    if (rows[at]?.key === key) return at;
  }
  return null;
}

/** Whether no caller of a source row belongs to the same row: its samples are not yet counted. */
function isTop(
  nodes: StackColumns["nodes"],
  image: readonly number[],
  at: number,
  place: number,
): boolean {
  for (let up = nodes[at]?.parent ?? -1; up >= 0; up = nodes[up]?.parent ?? -1) {
    if (image[up] === place) return false;
  }
  return true;
}

function finished(rows: readonly Row[], columns: StackColumns): Regrouped {
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at];
    const above = row === undefined ? undefined : rows[row.parent];
    for (const [set, value] of row?.amounts.entries() ?? []) {
      if (above !== undefined) above.amounts[set] = (above.amounts[set] ?? 0) + value;
    }
  }
  // A row whose time has moved to its callers is gone, and so is all below it.
  const kept = rows.filter(({ amounts, own }) => own > 0 || amounts.some((value) => value > 0));
  const places = new Map(kept.map((row, place) => [row, place]));
  const placeOf = (row: Row | undefined) => (row === undefined ? -1 : (places.get(row) ?? -1));
  const sources = kept.map((row) => sourceOf(row, columns));
  return {
    frame: kept.map((row, at) => lineOf(row, sources[at] ?? null)),
    parent: kept.map(({ parent }) => placeOf(rows[parent])),
    amounts: columns.amounts.map((_, set) => kept.map((row) => row.amounts[set] ?? 0)),
    own: kept.map(({ own }) => own),
    spreads: columns.spreads.map(({ samples }, column) =>
      kept.map(
        ({ spreads, amounts }) =>
          spreads[column]?.of(samples === null ? undefined : amounts[samples]) ?? 0,
      ),
    ),
    lines: kept.map(({ lines }) =>
      [...lines]
        .map(([line, amount]) => ({ line, amount }))
        .sort((a, b) => b.amount - a.amount || a.line - b.line),
    ),
    source: sources,
  };
}

/** The frame with the line of its greatest part. */
function lineOf({ frame, lines }: Row, source: number | null): StackFrame {
  if (source !== null || lines.size === 0) return frame;
  const [[line] = [frame.line]] = [...lines].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return { ...frame, line };
}

/** The row of the source with the same samples; null if rows were merged or a part has moved. */
function sourceOf({ amounts, tops }: Row, columns: StackColumns): number | null {
  const [only] = tops;
  if (tops.length !== 1 || only === undefined) return null;
  const whole = columns.amounts[0]?.[only] ?? 0;
  return (amounts[0] ?? 0) > (1 - SAME) * whole ? only : null;
}
