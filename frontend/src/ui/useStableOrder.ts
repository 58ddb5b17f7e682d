import { type FocusEvent, useCallback, useMemo, useRef, useState } from "react";

/** Rows to draw, and the handlers that track pointer and focus on the surrounding element. */
interface StableOrder<T> {
  readonly rows: readonly T[];
  readonly holding: boolean;
  readonly handlers: {
    readonly onPointerEnter: () => void;
    readonly onPointerLeave: () => void;
    readonly onFocus: () => void;
    readonly onBlur: (event: FocusEvent) => void;
  };
  /** Allow reordering: the user requested a new order, which arrives shortly. */
  readonly release: () => void;
}

/** Maximum time for a requested order to arrive, in ms. */
const RELEASE_MS = 1500;

/**
 * Keep the order of rows while the pointer or the focus is among them.
 * @param depthOf Depth of a row in a tree; omit for a flat list.
 */
export function useStableOrder<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  depthOf: ((row: T) => number) | null = null,
): StableOrder<T> {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const shown = useRef<readonly string[] | null>(null);
  const released_ms = useRef(Number.NEGATIVE_INFINITY);
  const holding = pointed || focused;

  const ordered = useMemo(() => {
    const free = performance.now() < released_ms.current + RELEASE_MS;
    const before = holding && !free ? shown.current : null;
    const result = depthOf
      ? stableTree(before, rows, keyOf, depthOf)
      : stableOrder(before, rows, keyOf);
    shown.current = result.map(keyOf);
    return result;
  }, [rows, keyOf, depthOf, holding]);

  const release = useCallback(() => {
    released_ms.current = performance.now();
  }, []);
  const handlers = useMemo(
    () => ({
      onPointerEnter: () => setPointed(true),
      onPointerLeave: () => setPointed(false),
      onFocus: () => setFocused(true),
      onBlur: (event: FocusEvent) => {
        if (!event.currentTarget.contains(event.relatedTarget)) {
          setFocused(false);
        }
      },
    }),
    [],
  );
  return { rows: ordered, holding, handlers, release };
}

/**
 * Keep rows in place: rows of `before` first, in their old order, new ones after them. A sorted
 * list must not move under the pointer.
 * @param before Keys in the order shown; null keeps the rows as given.
 */
export function stableOrder<T>(
  before: readonly string[] | null,
  rows: readonly T[],
  keyOf: (row: T) => string,
): readonly T[] {
  if (before === null) {
    return rows;
  }
  const place = new Map(before.map((key, index) => [key, index]));
  const rank = (row: T) => place.get(keyOf(row)) ?? before.length;
  // Array.sort is stable: new rows stay in their given order.
  return [...rows].sort((a, b) => rank(a) - rank(b));
}

/** `stableOrder` for a tree: rows keep their places among their siblings, under their parents. */
export function stableTree<T>(
  before: readonly string[] | null,
  rows: readonly T[],
  keyOf: (row: T) => string,
  depthOf: (row: T) => number,
): readonly T[] {
  if (before === null || rows.length < 2) {
    return rows;
  }
  const least = Math.min(...rows.map(depthOf));
  const starts = rows.flatMap((row, index) => (depthOf(row) === least ? [index] : []));
  // A section of a tree may begin below rows outside the section.
  const above = stableTree(before, rows.slice(0, starts[0]), keyOf, depthOf);
  const blocks = starts.map((start, i) => rows.slice(start, starts[i + 1]));
  const keyOfBlock = ([row]: readonly T[]): string => (row === undefined ? "" : keyOf(row));
  return [
    ...above,
    ...stableOrder(before, blocks, keyOfBlock).flatMap(([row, ...below]) =>
      row === undefined ? [] : [row, ...stableTree(before, below, keyOf, depthOf)],
    ),
  ];
}
