/** Left and right arrow keys in the rows of a tree, as specified by WAI-ARIA's treegrid. */

export interface TreeRow {
  /** Depth in the tree, from 1. */
  readonly depth: number;
  /** Whether its children are shown; null if it has none. */
  readonly open: boolean | null;
}

export type TreeMove = { readonly fold: boolean } | { readonly focus: number };

/**
 * Handle an arrow key: right opens a row or goes to its first child; left closes it or goes to its
 * parent.
 * @param rowAt Undefined for an unknown row.
 * @returns Null if the key does nothing here.
 */
export function moveInTree(
  key: string,
  index: number,
  rowAt: (index: number) => TreeRow | undefined,
): TreeMove | null {
  const row = rowAt(index);
  if (!row) return null;
  if (key === "ArrowRight") {
    if (row.open === false) return { fold: false };
    return row.open ? { focus: index + 1 } : null;
  }
  if (key !== "ArrowLeft") return null;
  if (row.open) return { fold: true };
  for (let above = index - 1; above >= 0; above--) {
    const candidate = rowAt(above);
    if (!candidate) return null;
    if (candidate.depth < row.depth) return { focus: above };
  }
  return null;
}
