/** Critical paths summed as a tree of calls, and differences of two such trees. Pure. */

import { formatValue } from "../../stream/format";
import type { DifferenceTree, TraceOperation } from "../../wire/generated/models";

/** Rows of a tree in columns; parents precede their children, -1 is the parent of a root. */
export interface TreeColumns {
  readonly name: readonly TraceOperation[];
  readonly parent: readonly number[];
}

export interface CallTree extends TreeColumns {
  readonly roots: readonly number[];
  /** Children by row, widest first. */
  readonly children: readonly (readonly number[])[];
  /** Depth by row; 0 for a root. */
  readonly depth: readonly number[];
  /** Drawn width by row; at least the sum of the children's. */
  readonly weight: readonly number[];
  /** Total of all roots. */
  readonly total: number;
}

/**
 * Build the tree of rows.
 * @param values By set and row: the value of a row with its subtree. Width is the greatest of a
 * row's values, so that a call in only one of two sets is visible as well.
 */
export function callTree(
  { name, parent }: TreeColumns,
  values: readonly (readonly number[])[],
): CallTree {
  const children: number[][] = name.map(() => []);
  const roots: number[] = [];
  const depth: number[] = [];
  for (const [row, above] of parent.entries()) {
    depth[row] = above < 0 ? 0 : (depth[above] ?? 0) + 1;
    (above < 0 ? roots : (children[above] ?? roots)).push(row);
  }
  const weight = name.map((_, row) => Math.max(0, ...values.map((set) => set[row] ?? 0)));
  for (let row = name.length - 1; row >= 0; row--) {
    const below = (children[row] ?? []).reduce((sum, child) => sum + (weight[child] ?? 0), 0);
    weight[row] = Math.max(weight[row] ?? 0, below);
  }
  const wider = (a: number, b: number) => (weight[b] ?? 0) - (weight[a] ?? 0) || a - b;
  roots.sort(wider);
  for (const each of children) each.sort(wider);
  const total = roots.reduce((sum, row) => sum + (weight[row] ?? 0), 0);
  return { name, parent, roots, children, depth, weight, total };
}

/** Name of an operation with its service, as one text. */
export function operationName({ service, operation }: TraceOperation): string {
  return `${service} ${operation}`;
}

/** Rows from the root to a row. */
export function chainTo(tree: TreeColumns, row: number): readonly number[] {
  const chain: number[] = [];
  for (let at = row; at >= 0; at = tree.parent[at] ?? -1) chain.unshift(at);
  return chain;
}

/**
 * The row reached by following names from a root, as far as possible; null if no root has the
 * first.
 */
export function rowOf(tree: CallTree, names: readonly string[]): number | null {
  let found: number | null = null;
  let among = tree.roots;
  for (const wanted of names) {
    const next = among.find((row) => nameAt(tree, row) === wanted);
    if (next === undefined) break;
    found = next;
    among = tree.children[next] ?? [];
  }
  return found;
}

/** Names from the root to a row; inverse of `rowOf`. */
export function namesTo(tree: CallTree, row: number): readonly string[] {
  return chainTo(tree, row).map((each) => nameAt(tree, each));
}

export function nameAt(tree: TreeColumns, row: number): string {
  const name = tree.name[row];
  return name === undefined ? "" : operationName(name);
}

export interface Matches {
  /** Rows whose name contains the text. */
  readonly rows: ReadonlySet<number>;
  /** Share of the full width covered by the matches and their subtrees, 0 to 1. */
  readonly share: number;
}

/** Rows whose name contains a text, ignoring case; null for an empty text. */
export function matchesOf(tree: CallTree, text: string): Matches | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return null;
  const rows = new Set<number>();
  const within: boolean[] = [];
  let covered = 0;
  for (const row of tree.name.keys()) {
    const above = tree.parent[row] ?? -1;
    const fits = nameAt(tree, row).toLowerCase().includes(wanted);
    const inside = above >= 0 && within[above] === true;
    if (fits) rows.add(row);
    // The subtree of a match counts with it, once.
    if (fits && !inside) covered += tree.weight[row] ?? 0;
    within[row] = fits || inside;
  }
  return { rows, share: tree.total === 0 ? 0 : covered / tree.total };
}

/** Services of a tree, by own width, widest first. */
export function servicesOf(tree: CallTree): readonly string[] {
  const own = new Map<string, number>();
  for (const [row, { service }] of tree.name.entries()) {
    const below = (tree.children[row] ?? []).reduce((sum, at) => sum + (tree.weight[at] ?? 0), 0);
    own.set(service, (own.get(service) ?? 0) + (tree.weight[row] ?? 0) - below);
  }
  return [...own].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
}

/** A duration: "12.3 ms". */
export function timeText(ns: number): string {
  return formatValue(ns / 1e9, "s");
}

/** A signed change of a duration: "+12.3 ms", "−4.00 µs", "±0". */
export function changeText(ns: number): string {
  if (Math.round(ns) === 0) return "±0";
  return `${ns > 0 ? "+" : "−"}${timeText(Math.abs(ns))}`;
}

/** Sign of a change before a name: a cue beside colour. */
export function changeSign(ns: number): string {
  if (Math.round(ns) === 0) return "";
  return `${ns > 0 ? "▲" : "▼"} ${changeText(ns)}`;
}

export function shareText(share: number): string {
  return formatValue(share, "share");
}

/** An operation in two sets: its own time on critical paths, mean per trace, ns. */
export interface OperationChange {
  readonly name: string;
  readonly base_ns: number;
  readonly other_ns: number;
  readonly change_ns: number;
  /** Traces with the longest time in the row that changed most. */
  readonly exemplars: readonly string[];
}

/** Changes of operations, summed over all callers, greatest first. */
export function operationChanges(tree: DifferenceTree): readonly OperationChange[] {
  const found = new Map<string, OperationChange & { readonly most: number }>();
  for (const [row, operation] of tree.name.entries()) {
    const name = operationName(operation);
    const base = tree.base_exclusive_ns[row] ?? 0;
    const other = tree.other_exclusive_ns[row] ?? 0;
    const before = found.get(name) ?? { base_ns: 0, other_ns: 0, most: -1, exemplars: [] };
    const here = Math.abs(other - base);
    const base_ns = before.base_ns + base;
    const other_ns = before.other_ns + other;
    found.set(name, {
      name,
      base_ns,
      other_ns,
      change_ns: other_ns - base_ns,
      most: Math.max(here, before.most),
      exemplars: here > before.most ? (tree.exemplars[row] ?? []) : before.exemplars,
    });
  }
  return [...found.values()]
    .map(({ most, ...change }) => change)
    .sort((a, b) => Math.abs(b.change_ns) - Math.abs(a.change_ns) || (a.name < b.name ? -1 : 1));
}

/** Change of a row's own time, mean per trace, ns. */
export function ownChange(tree: DifferenceTree, row: number): number {
  return (tree.other_exclusive_ns[row] ?? 0) - (tree.base_exclusive_ns[row] ?? 0);
}
