/** Which nodes of a graph are drawn, and how large: those there is room for, changed seldom. */

import { shortenMiddle } from "../model/format";
import type { WakeNode } from "../model/wakes";
import type { GraphNode } from "./graphLayout";

/** Of a name that is longer, the middle is left out. */
const LETTERS = 18;
const LETTER_PX = 7.4;
const PADDING_PX = 34;
const HEIGHT_PX = 40;
/** One that is not drawn replaces one that is if it has this many times its wake-ups. */
const FACTOR = 2;

/** Name as a node shows it. */
export function nodeName({ name }: WakeNode): string {
  return shortenMiddle(name, LETTERS);
}

/** Box of a node. */
export function nodeBox(node: WakeNode): GraphNode {
  const letters = Math.max(9, [...nodeName(node)].length);
  return { key: node.key, width: Math.round(PADDING_PX + LETTER_PX * letters), height: HEIGHT_PX };
}

/** How many nodes there is room for. */
export function roomFor(width: number): number {
  return width < 520 ? 8 : width < 800 ? 12 : 16;
}

/**
 * Choose nodes to draw: those that were, and others as far as there is room.
 *
 * @param nodes Most wake-ups first.
 * @param before Keys of those that are drawn.
 */
export function chooseNodes(
  nodes: readonly WakeNode[],
  before: ReadonlySet<string>,
  room: number,
): readonly WakeNode[] {
  if (nodes.length <= room) return nodes;
  const weight = ({ gives_per_s, gets_per_s }: WakeNode): number => gives_per_s + gets_per_s;
  const worth = (node: WakeNode): number => weight(node) * (before.has(node.key) ? FACTOR : 1);
  const chosen = new Set([...nodes].sort((a, b) => worth(b) - worth(a)).slice(0, room));
  return nodes.filter((node) => chosen.has(node));
}
