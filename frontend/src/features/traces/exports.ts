/**
 * Critical paths in formats of other programs, like the output of `tidscope critical-path`. Pure.
 */

import type { TraceTree } from "../../wire/generated/models";

/** Minimum own time of an exported stack, ns. */
const MIN_NS = 1000;
const MAX_SHADE = 5;

function nameAt({ name }: TraceTree, row: number): string {
  const { service = "", operation = "" } = name[row] ?? {};
  return `${service}: ${operation}`;
}

/** Lines for flamegraph.pl, inferno or speedscope: chain of callers, and own time in µs. */
export function foldedStacks(tree: TraceTree): string {
  const chains: string[] = [];
  const lines: string[] = [];
  for (const [row, above] of tree.parent.entries()) {
    const name = nameAt(tree, row).replaceAll(";", ",").split(/\s+/).join(" ");
    chains[row] = above < 0 ? name : `${chains[above]};${name}`;
    const own_ns = tree.exclusive_ns[row] ?? 0;
    if (own_ns >= MIN_NS) lines.push(`${chains[row]} ${Math.floor(own_ns / 1000)}\n`);
  }
  return lines.join("");
}

/** A graph for Graphviz: nodes are calling contexts, redder by own time. */
export function dotGraph(tree: TraceTree, traces: number): string {
  const total_ns = tree.exclusive_ns.reduce((sum, ns) => sum + ns, 0) || 1;
  const lines = [
    "digraph critical_path {",
    '  node [shape=box, style=filled, fontname="sans-serif", colorscheme=reds9];',
    "  rankdir=LR;",
  ];
  for (const [row, above] of tree.parent.entries()) {
    const share = (tree.inclusive_ns[row] ?? 0) / total_ns;
    const own = (tree.exclusive_ns[row] ?? 0) / total_ns;
    const shares = `${percent(own)} own, ${percent(share)} with callees`;
    const label = `${nameAt(tree, row)}\n${shares}\nin ${tree.count[row] ?? 0} of ${traces} traces`;
    const shade = 1 + Math.min(MAX_SHADE, Math.round(10 * own));
    lines.push(`  n${row} [label=${quoted(label)}, fillcolor=${shade}];`);
    if (above >= 0) lines.push(`  n${above} -> n${row} [penwidth=${(1 + 5 * share).toFixed(1)}];`);
  }
  return [...lines, "}", ""].join("\n");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `"${escaped}"`;
}
