/** A difference of stacks as a tree to draw, as a table of functions, and in words. Pure. */

import { type FlameTree, flameTree, namesTo } from "../../chart/flame";
import { formatValue } from "../../stream/format";
import type { StackDifference, StackFrame } from "../../wire/generated/models";
import { functionKey, sourceText } from "./frames";
import { type Grouping, regrouped } from "./regroup";

/** Time a second of window before and after, s/s, and the 95 % interval of after − before. */
export interface RateChange {
  readonly before: number;
  readonly after: number;
  readonly low: number;
  readonly high: number;
}

/** A difference as a tree to draw; columns below are by row. */
export interface DifferenceTree extends FlameTree {
  readonly frame: readonly StackFrame[];
  readonly change: readonly RateChange[];
}

/** Build the tree of an answer. A row is as wide as the greater of its two values. */
export function differenceTree(answer: StackDifference, grouping: Grouping): DifferenceTree {
  const { nodes, frames } = answer;
  const both = [nodes.map(({ before }) => before), nodes.map(({ after }) => after)] as const;
  const made = regrouped(
    {
      frames,
      nodes,
      amounts: [nodes.map(({ before, after }) => before + after), ...both],
      own: nodes.map(() => 0),
      half: nodes.map(({ low, high }) => (high - low) / 2),
    },
    grouping,
  );
  const change = made.frame.map((_, row): RateChange => {
    const before = made.amounts[1]?.[row] ?? 0;
    const after = made.amounts[2]?.[row] ?? 0;
    const source = nodes[made.source[row] ?? -1];
    if (source !== undefined) return { before, after, low: source.low, high: source.high };
    const half = made.half[row] ?? 0;
    return { before, after, low: after - before - half, high: after - before + half };
  });
  const name = made.frame.map((frame) => frame.function);
  const keys = made.frame.map(functionKey);
  const order = (a: number, b: number) => {
    const [x = "", y = ""] = [`${name[a]}\n${keys[a]}`, `${name[b]}\n${keys[b]}`];
    return x === y ? 0 : x < y ? -1 : 1;
  };
  const weight = change.map(({ before, after }) => Math.max(before, after));
  return { ...flameTree({ name, parent: made.parent }, weight, order), frame: made.frame, change };
}

/** The change that is certain by its interval: 1 grew, −1 shrank, 0 neither. */
export function certainSign({ low, high }: RateChange): -1 | 0 | 1 {
  return low > 0 ? 1 : high < 0 ? -1 : 0;
}

/** The certain part of a change, for its colour; 0 if the interval includes 0. */
export function certainChange(change: RateChange): number {
  return certainSign(change) === 0 ? 0 : change.after - change.before;
}

export function rateText(value: number): string {
  return `${formatValue(value, "s")}/s`;
}

const UNITS = [
  [0.1, 1, "s/s"],
  [1e-4, 1e3, "ms/s"],
  [0, 1e6, "µs/s"],
] as const;

/** "+12.0 ms/s (+8.00 to +16.0)": all in the unit of the greatest. */
export function changeText({ before, after, low, high }: RateChange): string {
  const most = Math.max(Math.abs(after - before), Math.abs(low), Math.abs(high));
  const [, factor, unit] = UNITS.find(([least]) => most >= least) ?? UNITS[0];
  const signed = (value: number) => {
    const text = Math.abs(value * factor).toPrecision(3);
    return Number(text) === 0 ? "0" : `${value > 0 ? "+" : "−"}${text}`;
  };
  return `${signed(after - before)} ${unit} (${signed(low)} to ${signed(high)})`;
}

/** Mark of a certain change before a name: a cue beside colour. */
export function changeMark(change: RateChange): string {
  const sign = certainSign(change);
  return sign === 0 ? "" : sign > 0 ? "▲" : "▼";
}

const VERDICTS = { "1": "It grew.", "0": "No certain change.", "-1": "It shrank." } as const;

/** Lines of a row's tooltip. */
export function changeTip(tree: DifferenceTree, row: number): readonly string[] {
  const change = tree.change[row];
  const frame = tree.frame[row];
  if (change === undefined || frame === undefined) return [];
  const place = sourceText(frame);
  return [
    frame.function,
    `${rateText(change.before)} before, ${rateText(change.after)} after`,
    `${changeText(change)}. ${VERDICTS[certainSign(change)]}`,
    ...(place === "" ? [] : [place]),
  ];
}

/** A function over all its callers: a row of the table. */
export interface ChangeRow extends RateChange {
  readonly key: string;
  readonly frame: StackFrame;
  readonly path: readonly string[];
}

/** Functions of a difference; a function below itself is counted once. */
export function changeRows(tree: DifferenceTree): readonly ChangeRow[] {
  const keys = tree.frame.map(functionKey);
  const found = new Map<string, number[]>();
  for (const row of tree.frame.keys()) {
    let up = tree.parent[row] ?? -1;
    while (up >= 0 && keys[up] !== keys[row]) up = tree.parent[up] ?? -1;
    if (up >= 0) continue;
    const key = keys[row] ?? "";
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return [...found].flatMap(([key, rows]) => {
    const [first] = rows;
    const frame = first === undefined ? undefined : tree.frame[first];
    return first === undefined || frame === undefined
      ? []
      : [
          {
            key,
            frame,
            path: namesTo(tree, first),
            ...summed(rows.flatMap((row) => tree.change[row] ?? [])),
          },
        ];
  });
}

/** Sum of changes; variances add up. */
function summed(changes: readonly RateChange[]): RateChange {
  const [only] = changes;
  if (changes.length === 1 && only !== undefined) return only;
  let [before, after, variance] = [0, 0, 0];
  for (const change of changes) {
    before += change.before;
    after += change.after;
    variance += ((change.high - change.low) / 2) ** 2;
  }
  const [middle, half] = [after - before, Math.sqrt(variance)];
  return { before, after, low: middle - half, high: middle + half };
}
