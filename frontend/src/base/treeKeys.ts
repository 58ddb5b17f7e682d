/** What arrow keys left and right do in rows of a tree, as WAI-ARIA's treegrid says. */

/** A row of a tree. */
export interface TreeRow {
  /** How deep it lies, from 1. */
  readonly depth: number;
  /** Whether its children follow it; null: it has none. */
  readonly open: boolean | null;
}

export type TreeMove = { readonly fold: boolean } | { readonly focus: number };

/**
 * Right opens a row, or goes to its first child; left closes it, or goes to its parent.
 *
 * @param rowAt Undefined where a row is not known.
 * @returns Null: the key does nothing here.
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
