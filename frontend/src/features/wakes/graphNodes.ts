/** Which nodes of a graph are drawn, and how large: those there is room for, changed seldom. */

import { shortenMiddle } from "../../stream/format";
import type { WakeNode } from "../../stream/wakes";
import type { GraphNode } from "./graphLayout";

/** Of a name that is longer, the middle is left out; on a narrow plot two stand side by side. */
const LETTERS = 18;
const LETTERS_NARROW = 12;
const NARROW_PX = 520;
const LETTER_PX = 7.4;
const PADDING_PX = 34;
const HEIGHT_PX = 40;
/** One that is not drawn replaces one that is if it has this many times its wake-ups. */
const FACTOR = 2;

/** Name as a node shows it on a plot of this width. */
export function nodeName({ name }: WakeNode, plot: number): string {
  return shortenMiddle(name, plot < NARROW_PX ? LETTERS_NARROW : LETTERS);
}

/** Box of a node on a plot of this width. */
export function nodeBox(node: WakeNode, plot: number): GraphNode {
  const letters = Math.max(9, [...nodeName(node, plot)].length);
  return { key: node.key, width: Math.round(PADDING_PX + LETTER_PX * letters), height: HEIGHT_PX };
}

/** How many nodes there is room for. */
export function roomFor(width: number): number {
  return width < NARROW_PX ? 8 : width < 800 ? 12 : 16;
}

/** Which nodes are drawn: those that were stay, as far as there is room. */
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
