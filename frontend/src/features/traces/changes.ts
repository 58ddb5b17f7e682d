/** Differences between two sets of traces. Pure. */

import type { DifferenceTree } from "../../wire/generated/models";
import { operationName } from "./callTree";

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
