/**
 * Edges of a graph as svg paths from border to border. Each bends so that opposite directions are
 * separate, and so that few nodes cover the edge.
 */

import { shortenMiddle } from "../../stream/format";
import type { WakeNode } from "../../stream/wakes";
import type { GraphNode, Place, PlotSize } from "./graphLayout";

/** A node with its position. */
export type PlacedNode = GraphNode & Place;

export interface EdgePath {
  readonly d: string;
  /** Candidate positions of its label, best first. */
  readonly places: readonly Place[];
}

/** Bend of an edge as a share of its length, and the maximum. */
const BEND = 0.16;
const MAX_BEND = 46;
/** Bends to try, gentlest first; negative: to the other side. */
const BENDS = [1, 2, 3.2, -1.6, -2.6] as const;
/** Space for the arrow head before the border. */
const HEAD = 7;
/** Number of points of an edge checked for covering nodes. */
const STEPS = 16;
const EVERYWHERE: PlotSize = {
  width: Number.POSITIVE_INFINITY,
  height: Number.POSITIVE_INFINITY,
};
/** Candidate positions of a label along its edge, best first. */
const LABEL_AT = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82] as const;
/** Candidate offsets beside the edge, in CSS pixels. */
const LABEL_BESIDE = [0, 9, -9, 17, -17] as const;
/** Candidate offsets above and beside a loop. */
const LABEL_LOOP = [
  [0, -24],
  [30, -16],
  [-30, -16],
  [0, -38],
  [48, -10],
  [-48, -10],
] as const;

/** A quadratic Bézier curve. */
interface Curve {
  readonly start: Place;
  readonly control: Place;
  readonly end: Place;
}

/**
 * Path of an edge between two nodes, or of a loop at one.
 * @param nodes All drawn nodes.
 * @param plot Bounds to stay within.
 */
export function edgePath(
  a: PlacedNode,
  b: PlacedNode,
  nodes: Iterable<PlacedNode> = [],
  plot: PlotSize = EVERYWHERE,
): EdgePath {
  if (a.key === b.key) return loop(a);
  const others = [...nodes].filter(({ key }) => key !== a.key && key !== b.key);
  let best = curveOf(a, b, BENDS[0]);
  let least = hiddenOf(best, others, plot);
  for (const bend of BENDS.slice(1)) {
    if (least === 0) break;
    const curve = curveOf(a, b, bend);
    const hidden = hiddenOf(curve, others, plot);
    if (hidden < least) [best, least] = [curve, hidden];
  }
  const { start, control, end } = best;
  const line = `M${num(start.x)},${num(start.y)}Q${num(control.x)},${num(control.y)}`;
  return { d: `${line} ${num(end.x)},${num(end.y)}`, places: labelPlaces(best) };
}

function curveOf(a: PlacedNode, b: PlacedNode, factor: number): Curve {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const length = Math.hypot(dx, dy) || 1;
  const bend = factor * Math.min(MAX_BEND, BEND * length);
  // Left of the direction: the opposite direction's edge is on the other side.
  const control = {
    x: (a.x + b.x) / 2 + (dy / length) * bend,
    y: (a.y + b.y) / 2 - (dx / length) * bend,
  };
  return { start: borderOf(a, control, 1), control, end: borderOf(b, control, HEAD) };
}

function pointOf({ start, control, end }: Curve, t: number): Place {
  const [p, q, r] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
  return {
    x: p * start.x + q * control.x + r * end.x,
    y: p * start.y + q * control.y + r * end.y,
  };
}

/** Number of points of a curve behind nodes or outside the plot. */
function hiddenOf(curve: Curve, nodes: readonly PlacedNode[], plot: PlotSize): number {
  let hidden = 0;
  for (let step = 1; step < STEPS; step++) {
    const { x, y } = pointOf(curve, step / STEPS);
    const outside = x < 0 || x > plot.width || y < 0 || y > plot.height;
    if (outside || nodes.some((node) => covers(node, { x, y }, 0, 0))) hidden++;
  }
  return hidden;
}

/** Candidate positions on the curve, or else beside it. */
function labelPlaces(curve: Curve): readonly Place[] {
  const { start, end } = curve;
  const length = Math.hypot(end.x - start.x, end.y - start.y) || 1;
  const across = { x: -(end.y - start.y) / length, y: (end.x - start.x) / length };
  return LABEL_BESIDE.flatMap((beside) =>
    LABEL_AT.map((t) => {
      const { x, y } = pointOf(curve, t);
      return { x: x + beside * across.x, y: y + beside * across.y };
    }),
  );
}

/** Whether a node covers a point, or is closer than a margin. */
export function covers(
  { x, y, width, height }: PlacedNode,
  at: Place,
  across: number,
  down: number,
): boolean {
  return Math.abs(at.x - x) < width / 2 + across && Math.abs(at.y - y) < height / 2 + down;
}

function loop({ x, y, width, height }: PlacedNode): EdgePath {
  const top = y - height / 2;
  const half = Math.min(16, width / 4);
  const d =
    `M${num(x - half)},${num(top)}` +
    `C${num(x - half)},${num(top - 22)} ${num(x + half)},${num(top - 22)} ` +
    `${num(x + half)},${num(top - HEAD)}`;
  return { d, places: LABEL_LOOP.map(([right, down]) => ({ x: x + right, y: top + down })) };
}

/**
 * Point slightly beyond a box's border on the line from its centre towards a point. A point near or
 * inside the box does not pull the result behind itself.
 */
function borderOf({ x, y, width, height }: PlacedNode, to: Place, more: number): Place {
  const dx = to.x - x;
  const dy = to.y - y;
  const length = Math.hypot(dx, dy) || 1;
  const scale = Math.min(
    dx === 0 ? Number.POSITIVE_INFINITY : width / 2 / Math.abs(dx),
    dy === 0 ? Number.POSITIVE_INFINITY : height / 2 / Math.abs(dy),
  );
  const reach = scale + more / length;
  return { x: x + dx * reach, y: y + dy * reach };
}

function num(value: number): string {
  return value.toFixed(1);
}

/**
 * Width of an edge by the square root of its value, in CSS pixels, so that small values are
 * visible.
 */
export function edgeWidth(value: number, most: number): number {
  return most > 0 ? 1 + 4 * Math.sqrt(Math.max(0, value) / most) : 1;
}

interface EdgeLabel {
  readonly key: string;
  readonly text: string;
  /** Candidate positions, best first. */
  readonly places: readonly Place[];
}

/** Width of a letter at the label's size, and the clear space around the text. */
const LETTER_PX = 6.3;
const FREE_PX = 6;
const HEIGHT_PX = 15;

export function labelSize(text: string): PlotSize {
  return { width: Math.ceil(LETTER_PX * [...text].length) + FREE_PX, height: HEIGHT_PX };
}

/**
 * Place labels one by one, each at its first free position.
 * @returns A position for each label that fits; crowded labels may be omitted.
 */
export function placeLabels(
  labels: readonly EdgeLabel[],
  nodes: readonly PlacedNode[],
  plot: PlotSize,
): ReadonlyMap<string, Place> {
  const placed = new Map<string, Place>();
  const taken: PlacedNode[] = [...nodes];
  for (const { key, text, places } of labels) {
    const { width, height } = labelSize(text);
    const place = places
      .map(({ x, y }) => ({
        x: Math.max(width / 2, Math.min(plot.width - width / 2, x)),
        y: Math.max(height / 2, Math.min(plot.height - height / 2, y)),
      }))
      .find((at) => !taken.some((other) => covers(other, at, width / 2, height / 2)));
    if (!place) continue;
    placed.set(key, place);
    taken.push({ key, width, height, ...place });
  }
  return placed;
}

/**
 * Maximum letters of a name, shortened in the middle; on a narrow plot two nodes are side by side.
 */
const LETTERS = 18;
const LETTERS_NARROW = 12;
const NARROW_PX = 520;
const NODE_LETTER_PX = 7.4;
const PADDING_PX = 34;
const NODE_HEIGHT_PX = 40;
/** An undrawn node replaces a drawn one if it has this many times its wake-ups. */
const FACTOR = 2;

/** Name of a node on a plot of this width. */
export function nodeName({ name }: WakeNode, plot: number): string {
  return shortenMiddle(name, plot < NARROW_PX ? LETTERS_NARROW : LETTERS);
}

/** Box of a node on a plot of this width. */
export function nodeBox(node: WakeNode, plot: number): GraphNode {
  const letters = Math.max(9, [...nodeName(node, plot)].length);
  return {
    key: node.key,
    width: Math.round(PADDING_PX + NODE_LETTER_PX * letters),
    height: NODE_HEIGHT_PX,
  };
}

/** Number of nodes that fit. */
export function roomFor(width: number): number {
  return width < NARROW_PX ? 8 : width < 800 ? 12 : 16;
}

/** Choice of the drawn nodes: existing ones stay, as far as they fit. */
export class NodeChoice {
  private drawn: ReadonlySet<string> = new Set();

  /** @param nodes Most wake-ups first. */
  choose(nodes: readonly WakeNode[], room: number): readonly WakeNode[] {
    const worth = ({ key, gives_per_s, gets_per_s }: WakeNode): number =>
      (gives_per_s + gets_per_s) * (this.drawn.has(key) ? FACTOR : 1);
    const best = [...nodes].sort((a, b) => worth(b) - worth(a)).slice(0, room);
    this.drawn = new Set(best.map(({ key }) => key));
    return nodes.filter(({ key }) => this.drawn.has(key));
  }
}
