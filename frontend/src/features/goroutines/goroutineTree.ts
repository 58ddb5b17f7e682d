/** Stacks of goroutines as a tree to draw. Pure. */

import { type FlameTree, flameTree } from "../../chart/flame";
import { formatNumber, formatPercent } from "../../stream/format";
import { type GoroutineFrame, type GoroutineRow, placeText } from "../../stream/goroutines";

export interface GoroutineTree extends FlameTree {
  /** Function by row; its line is the one with the most goroutines. */
  readonly frame: readonly GoroutineFrame[];
}

/** The tree of stacks, from outermost functions down; widths are goroutines on average. */
export function goroutineTree(rows: readonly GoroutineRow[]): GoroutineTree {
  const parent: number[] = [];
  const frame: GoroutineFrame[] = [];
  const weight: number[] = [];
  const places = new Map<string, number>();
  const stacks = rows.flatMap((row) => row.stacks).sort((a, b) => b.mean - a.mean);
  for (const { frames, mean } of stacks) {
    let above = -1;
    for (const each of frames.toReversed()) {
      const key = `${above} ${each.function}`;
      let at = places.get(key);
      if (at === undefined) {
        at = frame.length;
        places.set(key, at);
        parent.push(above);
        frame.push(each);
        weight.push(0);
      }
      weight[at] = (weight[at] ?? 0) + mean;
      above = at;
    }
  }
  const name = frame.map((each) => each.function);
  return { ...flameTree({ name, parent }, weight, inOrder(name)), frame };
}

/** Siblings by name, so that none jumps while numbers change. */
function inOrder(name: readonly string[]) {
  return (a: number, b: number) => ((name[a] ?? "") < (name[b] ?? "") ? -1 : 1);
}

/** Lines of a tooltip: function, goroutines, place. */
export function tipOf(tree: GoroutineTree, row: number): readonly string[] {
  const { function: name = "" } = tree.frame[row] ?? {};
  const mean = tree.weight[row] ?? 0;
  const share = tree.total > 0 ? mean / tree.total : 0;
  const count = `${formatNumber(mean, "threads")} goroutines on average (${formatPercent(share)})`;
  const place = placeText(tree.frame[row]);
  return [name, count, ...(place === "" ? [] : [place])];
}
