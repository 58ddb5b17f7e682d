import { type KeyboardEvent, type RefObject, useCallback, useState } from "react";
import { moveInRows } from "../base/keyboard";

export interface TreeRow {
  /** Depth in the tree, from 1. */
  readonly depth: number;
  /** True if the children are shown; null without children. */
  readonly open: boolean | null;
}

type TreeMove = { readonly fold: boolean } | { readonly focus: number };

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

interface RowNavigation {
  /** Index of the row that Tab reaches. */
  readonly active: number;
  /**
   * Key handler for the element around the rows; each row has one element with `data-row={index}`.
   */
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly focusRow: (index: number) => void;
}

/** Maximum wait for a row to be drawn after scrolling to the row, in animation frames. */
const MAX_WAIT_FRAMES = 12;

/** Arrow keys, Home, End and page keys move the focus from row to row of a virtualised table. */
export function useRowNavigation(
  root: RefObject<HTMLElement | null>,
  count: number,
  page: number,
  scrollTo: (index: number) => void,
): RowNavigation {
  const [active, setActive] = useState(0);

  const focusRow = useCallback(
    (index: number) => {
      setActive(index);
      scrollTo(index);
      let left = MAX_WAIT_FRAMES;
      const find = () => {
        const row = root.current?.querySelector<HTMLElement>(`[data-row="${index}"]`);
        if (row) {
          row.focus({ preventScroll: true });
        } else if (left > 0) {
          left -= 1;
          requestAnimationFrame(find);
        }
      };
      find();
    },
    [root, scrollTo],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.row : undefined;
    if (at === undefined || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const next = moveInRows(event.key, Number(at), count, page);
    if (next !== null) {
      event.preventDefault();
      focusRow(next);
    }
  };
  return { active: Math.min(active, Math.max(count - 1, 0)), onKeyDown, focusRow };
}

interface Tree {
  readonly rowAt: (index: number) => TreeRow | undefined;
  /** Open or close a row. */
  readonly onFold: (index: number, fold: boolean) => void;
  readonly focusRow: (index: number) => void;
  /** Handler of all other keys. */
  readonly otherwise: (event: KeyboardEvent) => void;
}

/**
 * Left and right arrow keys in a tree of rows; each row has one element with `data-row={index}`.
 */
export function treeKeyHandler({ rowAt, onFold, focusRow, otherwise }: Tree) {
  return (event: KeyboardEvent): void => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.row : undefined;
    const plain = !(event.ctrlKey || event.altKey || event.metaKey);
    const move = at === undefined || !plain ? null : moveInTree(event.key, Number(at), rowAt);
    if (move === null) {
      otherwise(event);
      return;
    }
    event.preventDefault();
    if ("focus" in move) focusRow(move.focus);
    else onFold(Number(at), move.fold);
  };
}
