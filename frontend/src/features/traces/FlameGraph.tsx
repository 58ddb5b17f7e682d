import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { useResize } from "../../chart/useResize";
import { Button, SearchField } from "../../ui/Controls";
import { type CallTree, chainTo, type Matches, nameAt, shareText } from "./callTree";
import type { LinkProps } from "./props";
import tracesPageStyles from "./TracesPage.module.css";

/** A box; its line is its depth in the tree, with roots on top. */
interface FlameBox {
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
 * @returns Lines from the root down, each from left to right.
 */
export function flameLayout(
  tree: CallTree,
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

function boxOf(tree: CallTree, row: number, left: number, width: number): FlameBox {
  return { row, left, width, depth: tree.depth[row] ?? 0, above: false };
}

/** Number of lines of the boxes. */
export function linesOf(boxes: readonly FlameBox[]): number {
  return boxes.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
}

/**
 * Row after a key. Up goes to the caller, down to the widest call, left and right along the line.
 * Home goes to the first box, End to the last. Null if the key does nothing here.
 */
export function moveInFlame(boxes: readonly FlameBox[], tree: CallTree, row: number, key: string) {
  const drawn = new Set(boxes.map((box) => box.row));
  const depth = tree.depth[row] ?? 0;
  const line = boxes.filter((box) => box.depth === depth);
  const at = line.findIndex((box) => box.row === row);
  switch (key) {
    case "ArrowUp": {
      const above = tree.parent[row] ?? -1;
      return drawn.has(above) ? above : null;
    }
    case "ArrowDown":
      return (tree.children[row] ?? []).find((child) => drawn.has(child)) ?? null;
    case "ArrowLeft":
      return line[at - 1]?.row ?? null;
    case "ArrowRight":
      return line[at + 1]?.row ?? null;
    case "Home":
      return boxes[0]?.row ?? null;
    case "End":
      return boxes.at(-1)?.row ?? null;
    default:
      return null;
  }
}

interface FlameGraphProps {
  readonly label: string;
  readonly tree: CallTree;
  /** Row with the full width; null: all roots. */
  readonly zoom: number | null;
  readonly onZoom: (row: number | null) => void;
  /** Called with the row under the pointer or the focus; null for none. */
  readonly onPoint: (row: number | null) => void;
  readonly matches: Matches | null;
  /** Background colour of a row. */
  readonly fill: (row: number) => string;
  /** Prefix of a box's name, such as a change; "" for none. */
  readonly sign?: (row: number) => string;
  readonly inWords: (row: number) => string;
}

const LINE_PX = 21;
/** Minimum width of a clickable box, in CSS pixels. */
const MIN_PX = 3;
/** Minimum width of a box with text, in CSS pixels. */
const TEXT_PX = 22;

/**
 * Calls as boxes: below their caller, with widths by time. A table beside the graph has the same
 * data.
 */
export function FlameGraph(props: FlameGraphProps) {
  const { label, tree, zoom, onZoom, onPoint, matches, fill, sign, inWords } = props;
  const root = useRef<HTMLElement>(null);
  const width = useResize(root);
  const [active, setActive] = useState<number | null>(null);
  const boxes = useMemo(
    () => (width === 0 ? [] : flameLayout(tree, zoom, MIN_PX / width)),
    [tree, zoom, width],
  );
  const reachable = boxes.some(({ row }) => row === active) ? active : boxes[0]?.row;

  const focus = (row: number) => {
    setActive(row);
    root.current?.querySelector<HTMLElement>(`[data-node="${row}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.node : undefined;
    if (at === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    if ((event.key === "Escape" || event.key === "Backspace") && zoom !== null) {
      event.preventDefault();
      event.stopPropagation();
      const above = tree.parent[zoom] ?? -1;
      onZoom(event.key === "Escape" || above < 0 ? null : above);
      return;
    }
    const next = moveInFlame(boxes, tree, Number(at), event.key);
    if (next === null) return;
    event.preventDefault();
    focus(next);
  };
  return (
    <section
      ref={root}
      className={tracesPageStyles.graph}
      style={{ height: LINE_PX * linesOf(boxes) }}
      aria-label={label}
      onKeyDown={onKeyDown}
      onPointerLeave={() => onPoint(null)}
      onBlur={() => onPoint(null)}
    >
      {boxes.map((box) => (
        <button
          key={box.row}
          type="button"
          className={tracesPageStyles.box}
          data-node={box.row}
          data-above={box.above}
          data-match={matches === null ? undefined : matches.rows.has(box.row)}
          tabIndex={box.row === reachable ? 0 : -1}
          aria-label={inWords(box.row)}
          aria-pressed={box.row === zoom}
          style={{ ...placeOf(box), background: box.above ? undefined : fill(box.row) }}
          onClick={() => onZoom(box.row)}
          onPointerEnter={() => onPoint(box.row)}
          onFocus={() => {
            setActive(box.row);
            onPoint(box.row);
          }}
        >
          {box.width * width < TEXT_PX ? "" : textOf(tree, box.row, sign?.(box.row) ?? "")}
        </button>
      ))}
    </section>
  );
}

function placeOf({ left, width, depth }: FlameBox) {
  return {
    left: `${100 * left}%`,
    width: `calc(${100 * width}% - 1px)`,
    top: LINE_PX * depth,
    height: LINE_PX - 1,
  };
}

function textOf(tree: CallTree, row: number, sign: string): string {
  return sign === "" ? nameAt(tree, row) : `${sign} ${nameAt(tree, row)}`;
}

interface FlameBarProps extends LinkProps {
  readonly tree: CallTree;
  readonly zoom: number | null;
  readonly onZoom: (row: number | null) => void;
  readonly matches: Matches | null;
}

/** Search of a flame graph, and the path to its zoomed row. */
export function FlameBar({ tree, zoom, onZoom, matches, link, onLink }: FlameBarProps) {
  return (
    <>
      <div className={tracesPageStyles.bar}>
        <SearchField
          label="Search calls"
          placeholder="Service or operation"
          value={link.search}
          onChange={(search) => onLink({ search }, "replace")}
        />
        <span role="status" className={tracesPageStyles.hint}>
          {matches === null
            ? ""
            : `${matches.rows.size === 0 ? "nothing" : shareText(matches.share)} matches`}
        </span>
      </div>
      {zoom === null ? null : (
        <nav aria-label="Zoomed to" className={tracesPageStyles.crumbs}>
          <Button variant="quiet" onClick={() => onZoom(null)}>
            All
          </Button>
          {chainTo(tree, zoom).map((row) => (
            <Button
              key={row}
              variant="quiet"
              aria-current={row === zoom}
              onClick={() => onZoom(row)}
            >
              › {nameAt(tree, row)}
            </Button>
          ))}
        </nav>
      )}
    </>
  );
}
