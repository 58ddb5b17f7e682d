import type { KeyboardEvent } from "react";
import { moveInTree, type TreeRow } from "../base/treeKeys";

interface Tree {
  readonly rowAt: (index: number) => TreeRow | undefined;
  /** Open or close a row. */
  readonly onFold: (index: number, fold: boolean) => void;
  readonly focusRow: (index: number) => void;
  /** All other keys. */
  readonly otherwise: (event: KeyboardEvent) => void;
}

/** Arrow keys left and right of a tree of rows; each row has one element with `data-row={index}`. */
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
