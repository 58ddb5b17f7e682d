/** Layout of the boxes of a flame graph, and keyboard navigation in it. Pure. */

import { type CallTree, chainTo } from "./callTree";

/** A box; its line is its depth in the tree, with roots on top. */
export interface FlameBox {
  readonly row: number;
  /** Position relative to the full width, 0 to 1. */
  readonly left: number;
  readonly width: number;
  readonly depth: number;
  /** An ancestor of the zoomed row, drawn with the zoomed row's width. */
  readonly above: boolean;
}

/**
 * Boxes of a tree.
 * @param zoom Row with the full width; null: the roots share it.
 * @param least Minimum share of the width; narrower boxes and their subtrees are omitted.
 * @returns Lines from the root down, each from left to right.
 */
export function flameLayout(
  tree: CallTree,
  zoom: number | null,
  least: number,
): readonly FlameBox[] {
  const boxes: FlameBox[] = [];
  const chain = zoom === null ? [] : chainTo(tree, zoom);
  for (const row of chain.slice(0, -1)) {
    boxes.push({ row, left: 0, width: 1, depth: tree.depth[row] ?? 0, above: true });
  }
  const whole = zoom === null ? tree.total : (tree.weight[zoom] ?? 0);
  if (whole <= 0) {
    return zoom === null ? boxes : [...boxes, boxOf(tree, zoom, 0, 1)];
  }
  let line: { readonly row: number; readonly left: number }[] = [];
  let left = 0;
  for (const row of zoom === null ? tree.roots : [zoom]) {
    line.push({ row, left });
    left += (tree.weight[row] ?? 0) / whole;
  }
  while (line.length > 0) {
    const next: typeof line = [];
    for (const { row, left: from } of line) {
      const width = (tree.weight[row] ?? 0) / whole;
      if (width < least || width === 0) continue;
      boxes.push(boxOf(tree, row, from, width));
      let at = from;
      for (const child of tree.children[row] ?? []) {
        next.push({ row: child, left: at });
        at += (tree.weight[child] ?? 0) / whole;
      }
    }
    line = next;
  }
  return boxes;
}

function boxOf(tree: CallTree, row: number, left: number, width: number): FlameBox {
  return { row, left, width, depth: tree.depth[row] ?? 0, above: false };
}

/** Number of lines of the boxes. */
export function linesOf(boxes: readonly FlameBox[]): number {
  return boxes.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
}

/**
 * Row after a key. Up goes to the caller, down to the widest call, left and right along the line.
 * Home goes to the first box, End to the last. Null if the key does nothing here.
 */
export function moveInFlame(boxes: readonly FlameBox[], tree: CallTree, row: number, key: string) {
  const drawn = new Set(boxes.map((box) => box.row));
  const depth = tree.depth[row] ?? 0;
  const line = boxes.filter((box) => box.depth === depth);
  const at = line.findIndex((box) => box.row === row);
  switch (key) {
    case "ArrowUp": {
      const above = tree.parent[row] ?? -1;
      return drawn.has(above) ? above : null;
    }
    case "ArrowDown":
      return (tree.children[row] ?? []).find((child) => drawn.has(child)) ?? null;
    case "ArrowLeft":
      return line[at - 1]?.row ?? null;
    case "ArrowRight":
      return line[at + 1]?.row ?? null;
    case "Home":
      return boxes[0]?.row ?? null;
    case "End":
      return boxes.at(-1)?.row ?? null;
    default:
      return null;
  }
}
