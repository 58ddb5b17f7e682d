/** Places of the labels of edges: on or beside their edge, over no node and over no other label. */

import { covers, type PlacedNode } from "./graphEdges";
import type { Place, PlotSize } from "./graphLayout";

export interface EdgeLabel {
  readonly key: string;
  readonly text: string;
  /** Where it may stand, the best place first. */
  readonly places: readonly Place[];
}

/** Of a letter at the label's size, and what is kept free around the text. */
const LETTER_PX = 6.3;
const FREE_PX = 6;
const HEIGHT_PX = 15;

/** Size of a label. */
export function labelSize(text: string): PlotSize {
  return { width: Math.ceil(LETTER_PX * [...text].length) + FREE_PX, height: HEIGHT_PX };
}

/**
 * Place labels, one after the other, each in the first of its places that is free.
 *
 * @returns A place for each label that has room; where labels crowd, some have none.
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
