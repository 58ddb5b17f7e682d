/** Edges of a graph as svg paths: from border to border, bent so that two directions lie apart. */

import type { GraphNode, Place } from "./graphLayout";

export interface EdgePath {
  readonly d: string;
  /** Where its label stands. */
  readonly middle: Place;
}

/** How far an edge bends, as a share of its length, and at most. */
const BEND = 0.16;
const MOST_BEND = 46;
/** Room for the arrow head before the border. */
const HEAD = 7;

/** Path of an edge between two nodes, or of a loop at one. */
export function edgePath(a: GraphNode & Place, b: GraphNode & Place): EdgePath {
  if (a.key === b.key) return loop(a);
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const length = Math.hypot(dx, dy) || 1;
  const bend = Math.min(MOST_BEND, BEND * length);
  // To the left of the way: that of the other direction is on the other side.
  const cx = (a.x + b.x) / 2 + (dy / length) * bend;
  const cy = (a.y + b.y) / 2 - (dx / length) * bend;
  const start = borderOf(a, { x: cx, y: cy }, 1);
  const end = borderOf(b, { x: cx, y: cy }, HEAD);
  const middle = {
    x: start.x / 4 + cx / 2 + end.x / 4,
    y: start.y / 4 + cy / 2 + end.y / 4,
  };
  return {
    d: `M${num(start.x)},${num(start.y)}Q${num(cx)},${num(cy)} ${num(end.x)},${num(end.y)}`,
    middle,
  };
}

function loop({ x, y, width, height }: GraphNode & Place): EdgePath {
  const top = y - height / 2;
  const half = Math.min(16, width / 4);
  const d =
    `M${num(x - half)},${num(top)}` +
    `C${num(x - half)},${num(top - 22)} ${num(x + half)},${num(top - 22)} ` +
    `${num(x + half)},${num(top - HEAD)}`;
  return { d, middle: { x, y: top - 24 } };
}

/** Where the line from the middle of a box towards a point leaves it, and a little further. */
function borderOf({ x, y, width, height }: GraphNode & Place, to: Place, more: number): Place {
  const dx = to.x - x;
  const dy = to.y - y;
  const length = Math.hypot(dx, dy) || 1;
  const scale = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : width / 2 / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : height / 2 / Math.abs(dy),
  );
  const reach = Math.min(1, scale + more / length);
  return { x: x + dx * reach, y: y + dy * reach };
}

function num(value: number): string {
  return value.toFixed(1);
}

/** Width of an edge of a value, CSS pixels: by its root, so that small ones can be seen. */
export function edgeWidth(value: number, most: number): number {
  return most > 0 ? 1 + 4 * Math.sqrt(Math.max(0, value) / most) : 1;
}
