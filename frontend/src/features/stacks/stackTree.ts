/** A flame graph's answer as a tree to draw, as a table of functions, and in words. Pure. */

import { type FlameTree, flameTree, namesTo } from "../../chart/flame";
import { counted, formatPercent, formatValue } from "../../stream/format";
import type { StackFrame, StackGraph } from "../../wire/generated/models";
import { functionKey, kindName, moduleOf, sourceText } from "./frames";
import { intervalWithin, SpreadMean, spreadWithin } from "./intervals";
import { type Grouping, type LineShare, regrouped } from "./regroup";

/** Fewer samples than this are pointed out. */
export const FEW_SAMPLES = 20;

/** An estimated time with its 95 % interval, in ns. */
export interface Estimate {
  readonly ns: number;
  readonly low_ns: number;
  readonly high_ns: number;
  readonly samples: number;
}

/** Stacks as a tree to draw; see `FlameTree`. Columns below are by row. */
export interface StackTree extends FlameTree {
  readonly frame: readonly StackFrame[];
  readonly estimate: readonly Estimate[];
  /** See intervals.ts. */
  readonly spread: readonly number[];
  /** Time in which the row is the innermost frame, in ns. */
  readonly self_ns: readonly number[];
  readonly lines: readonly (readonly LineShare[])[];
  /** The row of time without a known stack; null if there is none. */
  readonly unseen: number | null;
}

export const UNSEEN_NAME = "no stack known";

/** Why some time has no stack, in words. */
export const UNSEEN_REASON =
  "Asleep since before stacks were taken, without a sample, or the sample has no stack. " +
  "The time is exact, its code is not known.";

const UNSEEN: StackFrame = {
  kind: "unknown",
  function: UNSEEN_NAME,
  file: "",
  line: 0,
  module: "",
  inlined: false,
  named: true,
};

/** Build the tree of an answer. Siblings are in the order of their names, so that none jumps. */
export function stackTree(graph: StackGraph, grouping: Grouping): StackTree {
  const { nodes, frames, exact_ns, unseen_ns } = graph;
  const known_ns = exact_ns - unseen_ns;
  const made = regrouped(
    {
      frames,
      nodes,
      amounts: [nodes.map(({ ns }) => ns), nodes.map(({ samples }) => samples)],
      own: nodes.map(({ self_ns }) => self_ns),
      spreads: [
        {
          of: 0,
          samples: 1,
          values: nodes.map(({ ns, low_ns, high_ns }) =>
            spreadWithin({ value: ns, low: low_ns, high: high_ns }, known_ns),
          ),
        },
      ],
    },
    grouping,
  );
  const estimate = made.frame.map((_, row): Estimate => {
    const ns = made.amounts[0]?.[row] ?? 0;
    const samples = Math.round(made.amounts[1]?.[row] ?? 0);
    const source = nodes[made.source[row] ?? -1];
    if (source !== undefined) {
      return { ns, low_ns: source.low_ns, high_ns: source.high_ns, samples };
    }
    const { low, high } = intervalWithin(ns, made.spreads[0]?.[row] ?? 0, known_ns);
    return { ns, low_ns: low, high_ns: high, samples };
  });
  const unseen = unseen_ns > 0 ? made.frame.length : null;
  const own = {
    frame: [...made.frame],
    parent: [...made.parent],
    self_ns: [...made.own],
    lines: [...made.lines],
    spread: [...(made.spreads[0] ?? [])],
  };
  if (unseen !== null) {
    own.frame.push(UNSEEN);
    own.parent.push(-1);
    own.self_ns.push(unseen_ns);
    own.lines.push([]);
    own.spread.push(0);
    estimate.push({ ns: unseen_ns, low_ns: unseen_ns, high_ns: unseen_ns, samples: 0 });
  }
  const name = own.frame.map((frame) => frame.function);
  const keys = own.frame.map(functionKey);
  const order = (a: number, b: number) =>
    Number(a === unseen) - Number(b === unseen) || compared(name[a], name[b], keys[a], keys[b]);
  const weight = estimate.map(({ ns }) => ns);
  return { ...flameTree({ name, parent: own.parent }, weight, order), ...own, estimate, unseen };
}

function compared(a = "", b = "", keyA = "", keyB = ""): number {
  if (a !== b) return a < b ? -1 : 1;
  return keyA === keyB ? 0 : keyA < keyB ? -1 : 1;
}

/** Text of a row that a search reads: function, file and module. */
export function searchedText(frame: StackFrame): string {
  return `${frame.function} ${frame.file} ${frame.module}`;
}

/** Difference of the two deviations, relative to the greater, up to which only that is shown. */
const ASYMMETRY = 0.5;

/**
 * A time with its interval: "1.24 s ± 0.08"; "1.24 s (0.90 to 1.26 s)" if one end is much nearer;
 * "1.24 s, exact" if every stay was sampled.
 */
export function estimateText({ ns, low_ns, high_ns }: Omit<Estimate, "samples">): string {
  const value = timeText(ns);
  const [below, above] = [ns - low_ns, high_ns - ns];
  const half = Math.max(below, above);
  if (!(half > 1e-6 * Math.max(ns, 1))) return `${value}, exact`;
  if (Math.abs(below - above) <= ASYMMETRY * half) return `${value} ± ${inUnitOf(half, ns)}`;
  return `${value} (${rangeText(timeText(low_ns), timeText(high_ns))})`;
}

/** "0.90 to 1.26 s": the unit once if both have the same. */
function rangeText(low: string, high: string): string {
  const unit = ` ${high.split(" ").at(-1)}`;
  return `${low.endsWith(unit) ? low.slice(0, -unit.length) : low} to ${high}`;
}

/** A duration: "12.3 ms". */
export function timeText(ns: number): string {
  return formatValue(ns / 1e9, "s");
}

const UNITS = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
] as const;

/** A deviation with two digits, in the unit that `timeText` chooses for a value. */
function inUnitOf(half_ns: number, ns: number): string {
  const unit = timeText(ns).split(" ").at(-1) ?? "s";
  const size = UNITS.find(([name]) => name === unit)?.[1] ?? 1e9;
  const value = half_ns / size;
  return value >= 10 ? value.toFixed(0) : String(Number(value.toPrecision(2)));
}

/** "214 samples", "7 samples: few". */
export function samplesText(samples: number): string {
  return `${counted(samples, "sample")}${samples < FEW_SAMPLES ? ": few" : ""}`;
}

/** Lines of a row's tooltip: name, time, place. */
export function tipOf(tree: StackTree, row: number, exact_ns: number): readonly string[] {
  const frame = tree.frame[row] ?? UNSEEN;
  const estimate = tree.estimate[row];
  if (estimate === undefined) return [];
  if (row === tree.unseen) {
    return [
      UNSEEN_NAME,
      `${timeText(estimate.ns)}, ${shareText(estimate.ns, exact_ns)}`,
      UNSEEN_REASON,
    ];
  }
  const place = placeText(frame, tree.lines[row] ?? []);
  return [
    frame.function,
    `${estimateText(estimate)} (${shareText(estimate.ns, exact_ns)}), ${samplesText(estimate.samples)}`,
    `itself ${timeText(tree.self_ns[row] ?? 0)}`,
    ...(place === "" ? [] : [place]),
    [kindName(frame.kind), moduleOf(frame), frame.inlined ? "inlined" : ""]
      .filter((text, at, all) => text !== "" && all.indexOf(text) === at)
      .join(", "),
    ...(frame.named ? [] : ["Its name is not known."]),
  ];
}

/** A row in one sentence. */
export function sentenceOf(tree: StackTree, row: number, exact_ns: number): string {
  const [name = "", ...rest] = tipOf(tree, row, exact_ns);
  return `${name}: ${rest.join("; ")}`;
}

/** Lines of a function that are named at most. */
const MAX_LINES = 3;

/** Place of a function, and its lines: "src/bank.c:41, also 57 and 3 more". */
export function placeText(frame: StackFrame, lines: readonly LineShare[]): string {
  if (frame.file === "") return "";
  const [first, ...others] = lines;
  const file = first === undefined ? frame.file : `${frame.file}:${first.line}`;
  if (others.length === 0) return file;
  const named = others.slice(0, MAX_LINES - 1).map(({ line }) => line);
  const more = others.length - named.length;
  return `${file}, also ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

export function shareText(ns: number, exact_ns: number): string {
  return formatPercent(exact_ns > 0 ? ns / exact_ns : 0);
}

/** A function over all its callers: a row of the table. */
export interface FunctionRow extends Estimate {
  readonly key: string;
  readonly frame: StackFrame;
  readonly source: string;
  readonly self_ns: number;
  /** Names to its widest box. */
  readonly path: readonly string[];
}

/** Functions of a tree; a function below itself is counted once. */
export function functionRows(tree: StackTree, exact_ns: number): readonly FunctionRow[] {
  const known_ns = exact_ns - (tree.unseen === null ? 0 : (tree.weight[tree.unseen] ?? 0));
  const found = new Map<string, FunctionSum>();
  const keys = tree.frame.map(functionKey);
  for (const [row, frame] of tree.frame.entries()) {
    const key = keys[row] ?? "";
    const estimate = tree.estimate[row];
    if (estimate === undefined) continue;
    const none = { frame, ns: 0, spread: new SpreadMean(), samples: 0, self_ns: 0, tops: [] };
    const sum: FunctionSum = found.get(key) ?? none;
    found.set(key, sum);
    sum.self_ns += tree.self_ns[row] ?? 0;
    if (isBelow(tree, keys, row)) continue;
    sum.ns += estimate.ns;
    sum.samples += estimate.samples;
    sum.spread.add(tree.spread[row] ?? 0, estimate.ns, estimate.samples);
    sum.tops.push(row);
  }
  return [...found].map(([key, { frame, ns, spread, samples, self_ns, tops }]) => {
    const [only] = tops;
    const one = tops.length === 1 && only !== undefined ? tree.estimate[only] : undefined;
    const merged = intervalWithin(ns, spread.of(samples), known_ns);
    const ends = one ?? { low_ns: merged.low, high_ns: merged.high };
    const widest = tops.reduce(
      (best, row) => ((tree.weight[row] ?? 0) > (tree.weight[best] ?? 0) ? row : best),
      only ?? 0,
    );
    const { low_ns, high_ns } = ends;
    return {
      ...{ key, frame, ns, low_ns, high_ns, samples, self_ns },
      source: sourceText(frame),
      path: namesTo(tree, widest),
    };
  });
}

interface FunctionSum {
  readonly frame: StackFrame;
  ns: number;
  readonly spread: SpreadMean;
  samples: number;
  self_ns: number;
  readonly tops: number[];
}

function isBelow(tree: StackTree, keys: readonly string[], row: number): boolean {
  for (let up = tree.parent[row] ?? -1; up >= 0; up = tree.parent[up] ?? -1) {
    if (keys[up] === keys[row]) return true;
  }
  return false;
}
