/** Trees of calls as boxes: layout, paths, search and keys. Pure. */

/** Calls in columns; parents precede their children. */
export interface FlameTree {
  /** Shown name by row. */
  readonly name: readonly string[];
  /** Caller by row; -1 for a root. */
  readonly parent: readonly number[];
  readonly roots: readonly number[];
  /** Callees by row, from left to right. */
  readonly children: readonly (readonly number[])[];
  /** Depth by row; 0 for a root. */
  readonly depth: readonly number[];
  /** Drawn width by row; at least the sum of the children's. */
  readonly weight: readonly number[];
  /** Total of all roots. */
  readonly total: number;
}

interface FlameColumns {
  readonly name: readonly string[];
  readonly parent: readonly number[];
}

/**
 * Build the tree of rows.
 * @param values Width by row; raised to the sum of the children's.
 * @param order Order of siblings, from left to right; widest first by default.
 */
export function flameTree(
  { name, parent }: FlameColumns,
  values: readonly number[],
  order?: (a: number, b: number) => number,
): FlameTree {
  const children: number[][] = name.map(() => []);
  const roots: number[] = [];
  const depth: number[] = [];
  for (const [row, above] of parent.entries()) {
    depth[row] = above < 0 ? 0 : (depth[above] ?? 0) + 1;
    (above < 0 ? roots : (children[above] ?? roots)).push(row);
  }
  const weight = [...values];
  for (let row = name.length - 1; row >= 0; row--) {
    const below = (children[row] ?? []).reduce((sum, child) => sum + (weight[child] ?? 0), 0);
    weight[row] = Math.max(weight[row] ?? 0, below);
  }
  const wider = (a: number, b: number) => (weight[b] ?? 0) - (weight[a] ?? 0) || a - b;
  roots.sort(order ?? wider);
  for (const each of children) each.sort(order ?? wider);
  const total = roots.reduce((sum, row) => sum + (weight[row] ?? 0), 0);
  return { name, parent, roots, children, depth, weight, total };
}

/** Rows from the root to a row. */
export function chainTo(tree: Pick<FlameTree, "parent">, row: number): readonly number[] {
  const chain: number[] = [];
  for (let at = row; at >= 0; at = tree.parent[at] ?? -1) chain.unshift(at);
  return chain;
}

/**
 * The row reached by following names from a root, as far as possible; null if no root has the
 * first.
 */
export function rowOf(tree: FlameTree, names: readonly string[]): number | null {
  let found: number | null = null;
  let among = tree.roots;
  for (const wanted of names) {
    const next = among.find((row) => tree.name[row] === wanted);
    if (next === undefined) break;
    found = next;
    among = tree.children[next] ?? [];
  }
  return found;
}

/** Names from the root to a row; inverse of `rowOf`. */
export function namesTo(tree: FlameTree, row: number): readonly string[] {
  return chainTo(tree, row).map((each) => tree.name[each] ?? "");
}

export interface Matches {
  /** Rows whose text contains the search. */
  readonly rows: ReadonlySet<number>;
  /** Width covered by the matches and their subtrees. */
  readonly weight: number;
  /** Share of the full width, 0 to 1. */
  readonly share: number;
}

/**
 * Rows whose text contains a search, ignoring case; null for an empty search.
 * @param textOf Searched text of a row; its name by default.
 */
export function matchesOf(
  tree: FlameTree,
  search: string,
  textOf: (row: number) => string = (row) => tree.name[row] ?? "",
): Matches | null {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return null;
  const rows = new Set<number>();
  const within: boolean[] = [];
  let weight = 0;
  for (const [row, above] of tree.parent.entries()) {
    const fits = textOf(row).toLowerCase().includes(wanted);
    const inside = above >= 0 && within[above] === true;
    if (fits) rows.add(row);
    // The subtree of a match counts with it, once.
    if (fits && !inside) weight += tree.weight[row] ?? 0;
    within[row] = fits || inside;
  }
  return { rows, weight, share: tree.total === 0 ? 0 : weight / tree.total };
}

/** A box; its line is its depth in the tree. */
export interface FlameBox {
  readonly row: number;
  /** Position relative to the full width, 0 to 1. */
  readonly left: number;
  readonly width: number;
  readonly depth: number;
  /** An ancestor of the zoomed row, drawn with the zoomed row's width. */
  readonly above: boolean;
}

/**
 * Boxes of a tree.
 * @param zoom Row with the full width; null: the roots share it.
 * @param least Minimum share of the width; narrower boxes and their subtrees are omitted.
 * @returns Lines from the root on, each from left to right.
 */
export function flameLayout(
  tree: FlameTree,
  zoom: number | null,
  least: number,
): readonly FlameBox[] {
  const boxes: FlameBox[] = [];
  const chain = zoom === null ? [] : chainTo(tree, zoom);
  for (const row of chain.slice(0, -1)) {
    boxes.push({ row, left: 0, width: 1, depth: tree.depth[row] ?? 0, above: true });
  }
  const whole = zoom === null ? tree.total : (tree.weight[zoom] ?? 0);
  if (whole <= 0) {
    return zoom === null ? boxes : [...boxes, boxOf(tree, zoom, 0, 1)];
  }
  let line: { readonly row: number; readonly left: number }[] = [];
  let left = 0;
  for (const row of zoom === null ? tree.roots : [zoom]) {
    line.push({ row, left });
    left += (tree.weight[row] ?? 0) / whole;
  }
  while (line.length > 0) {
    const next: typeof line = [];
    for (const { row, left: from } of line) {
      const width = (tree.weight[row] ?? 0) / whole;
      if (width < least || width === 0) continue;
      boxes.push(boxOf(tree, row, from, width));
      let at = from;
      for (const child of tree.children[row] ?? []) {
        next.push({ row: child, left: at });
        at += (tree.weight[child] ?? 0) / whole;
      }
    }
    line = next;
  }
  return boxes;
}

function boxOf(tree: FlameTree, row: number, left: number, width: number): FlameBox {
  return { row, left, width, depth: tree.depth[row] ?? 0, above: false };
}

/** Number of lines of the boxes. */
export function linesOf(boxes: readonly FlameBox[]): number {
  return boxes.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
}

/** The box at a position: share of the width, and depth; undefined if none. */
export function boxAt(
  boxes: readonly FlameBox[],
  share: number,
  depth: number,
): FlameBox | undefined {
  return boxes.find(
    (box) => box.depth === depth && share >= box.left && share < box.left + box.width,
  );
}

/** Direction of a key from a box, independent of the orientation of the drawing. */
export type FlameMove = "caller" | "callee" | "left" | "right" | "first" | "last";

/** Row after a move; a callee is the widest drawn one. Null if there is none. */
export function moveInFlame(
  boxes: readonly FlameBox[],
  tree: FlameTree,
  row: number,
  move: FlameMove,
): number | null {
  const drawn = new Set(boxes.map((box) => box.row));
  const depth = tree.depth[row] ?? 0;
  const line = boxes.filter((box) => box.depth === depth);
  const at = line.findIndex((box) => box.row === row);
  switch (move) {
    case "caller": {
      const above = tree.parent[row] ?? -1;
      return drawn.has(above) ? above : null;
    }
    case "callee": {
      const below = (tree.children[row] ?? []).filter((child) => drawn.has(child));
      const widest = Math.max(...below.map((child) => tree.weight[child] ?? 0));
      return below.find((child) => tree.weight[child] === widest) ?? null;
    }
    case "left":
      return line[at - 1]?.row ?? null;
    case "right":
      return line[at + 1]?.row ?? null;
    case "first":
      return boxes[0]?.row ?? null;
    case "last":
      return boxes.at(-1)?.row ?? null;
  }
}

/** Meaning of a key; null for a key that does not move. `upwards`: callees are drawn above. */
export function flameMove(key: string, upwards: boolean): FlameMove | null {
  switch (key) {
    case "ArrowUp":
      return upwards ? "callee" : "caller";
    case "ArrowDown":
      return upwards ? "caller" : "callee";
    case "ArrowLeft":
      return "left";
    case "ArrowRight":
      return "right";
    case "Home":
      return "first";
    case "End":
      return "last";
    default:
      return null;
  }
}
