import {
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import {
  boxAt,
  type FlameBox,
  type FlameTree,
  flameLayout,
  flameMove,
  linesOf,
  type Matches,
  moveInFlame,
  namesTo,
  rowOf,
} from "./flame";
import { depthAt, FlameSurface, flameHeight, LINE_PX, MIN_BOX_PX, topOf } from "./flameSurface";
import type { ChartTheme } from "./palette";
import { useResize } from "./useResize";

interface FlameGraphProps {
  readonly label: string;
  readonly tree: FlameTree;
  readonly theme: ChartTheme;
  /** Row with the full width; null: all roots. */
  readonly zoom: number | null;
  readonly onZoom: (row: number | null) => void;
  /** Called with the row under the pointer or the cursor; null for none. */
  readonly onPoint: (row: number | null) => void;
  readonly matches: Matches | null;
  /** Background colour of a row. */
  readonly fill: (row: number) => string;
  /** Rows with stripes. */
  readonly hatched?: (row: number) => boolean;
  /** Prefix of a box's name, such as a change; "" for none. */
  readonly sign?: (row: number) => string;
  readonly inWords: (row: number) => string;
  /** Lines of a tooltip, the first in bold. */
  readonly tip?: (row: number) => readonly string[];
  /** Roots below, callees above. */
  readonly upwards?: boolean;
}

/**
 * Calls as boxes: beside their caller, with widths by time. A table beside the graph has the same
 * data.
 */
export function FlameGraph(props: FlameGraphProps) {
  const { label, tree, theme, zoom, onZoom, onPoint, matches, fill, hatched, sign } = props;
  const { inWords, tip, upwards = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const surface = useRef<FlameSurface | null>(null);
  const width = useResize(place);
  const [focused, setFocused] = useState(false);
  /** Names up to the cursor, which outlive a new tree; empty: the first box. */
  const [path, setPath] = useState<readonly string[]>([]);
  const [pointer, setPointer] = useState<{ readonly x: number; readonly y: number } | null>(null);
  const boxes = useMemo(
    () => (width === 0 ? [] : flameLayout(tree, zoom, MIN_BOX_PX / width)),
    [tree, zoom, width],
  );
  const lines = linesOf(boxes);
  const cursor = drawnRow(boxes, tree, rowOf(tree, path));
  const rowAtPoint = (x: number, y: number) =>
    boxAt(boxes, x / width, depthAt(y, lines, upwards))?.row ?? null;
  const pointed = pointer === null ? null : rowAtPoint(pointer.x, pointer.y);
  const shown = pointed ?? (focused ? cursor : null);

  useEffect(() => {
    if (!place.current) return undefined;
    // Arrow keys move a cursor in the graph.
    place.current.tabIndex = 0;
    const made = new FlameSurface(place.current);
    surface.current = made;
    return () => {
      made.dispose();
      surface.current = null;
    };
  }, []);
  useLayoutEffect(() => {
    if (width === 0) return;
    const styleOf = (row: number) => {
      const mark = sign?.(row) ?? "";
      const name = tree.name[row] ?? "";
      return {
        fill: fill(row),
        text: mark === "" ? name : `${mark} ${name}`,
        hatched: hatched?.(row) ?? false,
        match: matches === null ? null : matches.rows.has(row),
      };
    };
    surface.current?.draw({ tree, boxes, width, upwards, theme, styleOf });
  }, [tree, boxes, width, upwards, theme, fill, hatched, sign, matches]);
  useLayoutEffect(() => {
    surface.current?.mark(pointed, focused ? cursor : null);
  });
  useEffect(() => onPoint(shown), [onPoint, shown]);

  const moveTo = (row: number) => {
    setPointer(null);
    setPath(namesTo(tree, row));
    scrollToLine(place.current, topOf(tree.depth[row] ?? 0, lines, upwards));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || cursor === null) return;
    if (event.key === "Escape" && zoom !== null) {
      event.preventDefault();
      event.stopPropagation();
      const above = tree.parent[zoom] ?? -1;
      onZoom(above < 0 ? null : above);
      return;
    }
    const move = flameMove(event.key, upwards);
    if (event.key === "Enter") {
      event.preventDefault();
      onZoom(cursor);
    } else if (move !== null) {
      event.preventDefault();
      const next = moveInFlame(boxes, tree, cursor, move);
      if (next !== null) moveTo(next);
    }
  };
  const pointOf = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const onClick = (event: React.MouseEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const row = rowAtPoint(event.clientX - box.left, event.clientY - box.top);
    if (row === null) return;
    setPath(namesTo(tree, row));
    onZoom(row);
  };
  const words = cursor === null ? "" : inWords(cursor);
  return (
    <>
      <div
        ref={place}
        role="application"
        aria-roledescription="flame graph"
        aria-label={`${label}. Arrow keys move, Enter zooms, Escape goes back.`}
        data-flame={label}
        data-boxes={boxes.length}
        data-cursor={cursor === null ? "" : tree.name[cursor]}
        style={{
          position: "relative",
          height: flameHeight(boxes),
          cursor: pointed === null ? "default" : "pointer",
          touchAction: "pan-y",
        }}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onPointerMove={(event) => setPointer(pointOf(event))}
        onPointerLeave={() => setPointer(null)}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        {tip !== undefined && pointed !== null && pointer !== null ? (
          <FlameTip
            lines={tip(pointed)}
            at={pointer}
            size={{ width, height: flameHeight(boxes) }}
            theme={theme}
          />
        ) : null}
      </div>
      <output className="visually-hidden" aria-live="polite" data-flame-said="">
        {focused ? words : ""}
      </output>
    </>
  );
}

/** The row, or its nearest caller that is drawn; otherwise the first box. */
function drawnRow(
  boxes: readonly FlameBox[],
  tree: FlameTree,
  wanted: number | null,
): number | null {
  const drawn = new Set(boxes.map(({ row }) => row));
  let at = wanted ?? -1;
  while (at >= 0 && !drawn.has(at)) at = tree.parent[at] ?? -1;
  return at >= 0 ? at : (boxes[0]?.row ?? null);
}

/** Scroll the page so that a line of the graph is visible. */
function scrollToLine(element: HTMLElement | null, top: number): void {
  if (element === null) return;
  const at = element.getBoundingClientRect().top + top;
  const below = at + LINE_PX - window.innerHeight;
  if (at < 0) window.scrollBy({ top: at - LINE_PX });
  else if (below > 0) window.scrollBy({ top: below + LINE_PX });
}

interface FlameTipProps {
  readonly lines: readonly string[];
  readonly at: { readonly x: number; readonly y: number };
  readonly size: { readonly width: number; readonly height: number };
  readonly theme: ChartTheme;
}

const TIP_PX = 340;
const BESIDE_PX = 14;

/** Tooltip beside the pointer, towards the middle of the graph: it must not lengthen the page. */
function FlameTip({ lines, at, size, theme }: FlameTipProps) {
  const room = Math.min(TIP_PX, size.width);
  const left = Math.max(0, Math.min(at.x + BESIDE_PX, size.width - room));
  const above = at.y > size.height / 2;
  return (
    <div
      className="chart-tooltip"
      aria-hidden="true"
      style={{
        position: "absolute",
        zIndex: 5,
        ...(above ? { bottom: size.height - at.y + BESIDE_PX } : { top: at.y + BESIDE_PX + 4 }),
        left,
        width: "max-content",
        maxWidth: room,
        padding: "6px 8px",
        border: `1px solid ${theme.grid}`,
        borderRadius: 4,
        background: theme.background,
        color: theme.text,
        fontSize: 12,
        lineHeight: 1.4,
        overflowWrap: "anywhere",
        pointerEvents: "none",
      }}
    >
      {lines.map((line, place) => (
        <div
          key={line}
          style={
            place === 0 ? { fontWeight: 600 } : { color: place > 1 ? theme.muted : theme.text }
          }
        >
          {line}
        </div>
      ))}
    </div>
  );
}
