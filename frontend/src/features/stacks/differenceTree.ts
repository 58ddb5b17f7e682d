/** A difference of stacks as a tree to draw, as a table of functions, and in words. Pure. */

import { type FlameTree, flameTree, namesTo } from "../../chart/flame";
import { formatValue } from "../../stream/format";
import type { StackDifference, StackFrame, StackSelection } from "../../wire/generated/models";
import { functionKey, sourceText } from "./frames";
import { differenceOf, intervalWithin, SpreadMean, spreadWithin } from "./intervals";
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
  /** Spreads before and after; see intervals.ts. */
  readonly spread: readonly (readonly [before: number, after: number])[];
  /** Rates of all known stacks, s/s. */
  readonly whole: readonly [before: number, after: number];
}

/** Rate of all known stacks of a side, s/s. */
function wholeOf({ exact_ns, unseen_ns, seconds }: StackSelection): number {
  return seconds > 0 ? (exact_ns - unseen_ns) / 1e9 / seconds : 0;
}

/** Change of merged rows. */
function changeOf(
  [before, after]: readonly [before: number, after: number],
  spread: readonly [before: number, after: number],
  whole: readonly [before: number, after: number],
): RateChange {
  const was = intervalWithin(before, spread[0], whole[0]);
  const is = intervalWithin(after, spread[1], whole[1]);
  const { low, high } = differenceOf(was, is);
  return { before, after, low, high };
}

/** Build the tree of an answer. A row is as wide as the greater of its two values. */
export function differenceTree(answer: StackDifference, grouping: Grouping): DifferenceTree {
  const { nodes, frames } = answer;
  const whole = [wholeOf(answer.before), wholeOf(answer.after)] as const;
  const both = [nodes.map(({ before }) => before), nodes.map(({ after }) => after)] as const;
  const made = regrouped(
    {
      frames,
      nodes,
      amounts: [nodes.map(({ before, after }) => before + after), ...both],
      own: nodes.map(() => 0),
      spreads: [
        {
          of: 1,
          samples: null,
          values: nodes.map(({ before, before_low, before_high }) =>
            spreadWithin({ value: before, low: before_low, high: before_high }, whole[0]),
          ),
        },
        {
          of: 2,
          samples: null,
          values: nodes.map(({ after, after_low, after_high }) =>
            spreadWithin({ value: after, low: after_low, high: after_high }, whole[1]),
          ),
        },
      ],
    },
    grouping,
  );
  const spread = made.frame.map(
    (_, row) => [made.spreads[0]?.[row] ?? 0, made.spreads[1]?.[row] ?? 0] as const,
  );
  const change = made.frame.map((_, row): RateChange => {
    const before = made.amounts[1]?.[row] ?? 0;
    const after = made.amounts[2]?.[row] ?? 0;
    const source = nodes[made.source[row] ?? -1];
    if (source !== undefined) return { before, after, low: source.low, high: source.high };
    return changeOf([before, after], spread[row] ?? [0, 0], whole);
  });
  const name = made.frame.map((frame) => frame.function);
  const keys = made.frame.map(functionKey);
  const order = (a: number, b: number) => {
    const [x = "", y = ""] = [`${name[a]}\n${keys[a]}`, `${name[b]}\n${keys[b]}`];
    return x === y ? 0 : x < y ? -1 : 1;
  };
  const weight = change.map(({ before, after }) => Math.max(before, after));
  return {
    ...flameTree({ name, parent: made.parent }, weight, order),
    frame: made.frame,
    change,
    spread,
    whole,
  };
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
      : [{ key, frame, path: namesTo(tree, first), ...summed(tree, rows) }];
  });
}

/** Change of rows together, none below another. */
function summed(tree: DifferenceTree, rows: readonly number[]): RateChange {
  const [only] = rows;
  const one = rows.length === 1 && only !== undefined ? tree.change[only] : undefined;
  if (one !== undefined) return one;
  let [before, after] = [0, 0];
  const spreads = [new SpreadMean(), new SpreadMean()] as const;
  for (const row of rows) {
    const change = tree.change[row];
    if (change === undefined) continue;
    before += change.before;
    after += change.after;
    spreads[0].add(tree.spread[row]?.[0] ?? 0, change.before);
    spreads[1].add(tree.spread[row]?.[1] ?? 0, change.after);
  }
  return changeOf([before, after], [spreads[0].of(), spreads[1].of()], tree.whole);
}
