/** Critical paths summed as a tree of calls, and differences of two such trees. Pure. */

import { type FlameTree, flameTree, type Matches } from "../../chart/flame";
import { formatValue } from "../../stream/format";
import type { DifferenceTree, TraceOperation } from "../../wire/generated/models";

/** Rows of a tree in columns; parents precede their children, -1 is the parent of a root. */
export interface TreeColumns {
  readonly name: readonly TraceOperation[];
  readonly parent: readonly number[];
}

/** A tree of operations; see `FlameTree`. */
export interface CallTree extends FlameTree {
  readonly operation: readonly TraceOperation[];
}

/**
 * Build the tree of rows.
 * @param values By set and row: the value of a row with its subtree. Width is the greatest of a
 * row's values, so that a call in only one of two sets is visible as well.
 */
export function callTree(
  { name: operation, parent }: TreeColumns,
  values: readonly (readonly number[])[],
): CallTree {
  const greatest = operation.map((_, row) => Math.max(0, ...values.map((set) => set[row] ?? 0)));
  return {
    ...flameTree({ name: operation.map(operationName), parent }, greatest),
    operation,
  };
}

/** Name of an operation with its service, as one text. */
export function operationName({ service, operation }: TraceOperation): string {
  return `${service} ${operation}`;
}

/** Share of the time that a search covers, in words; "" without a search. */
export function foundText(matches: Matches | null): string {
  if (matches === null) return "";
  return `${matches.rows.size === 0 ? "nothing" : shareText(matches.share)} matches`;
}

/** Services of a tree, by own width, widest first. */
export function servicesOf(tree: CallTree): readonly string[] {
  const own = new Map<string, number>();
  for (const [row, { service }] of tree.operation.entries()) {
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
