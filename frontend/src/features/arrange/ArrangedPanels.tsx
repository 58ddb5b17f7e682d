/**
 * Feature `arrange`: the page's panels in, panels in the user's order out. It must not know the
 * content of a panel.
 */

import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useStore } from "../../base/useStore";
import { PanelSlotContext } from "../../ui/Panel";
import tools from "../../ui/Panel.module.css";
import { PANEL_ORDER, type PanelId } from "../charts/panels";
import styles from "./ArrangedPanels.module.css";
import {
  arrange,
  arrangementText,
  changed,
  fullWidths,
  movedBeside,
  movedBy,
  type Placed,
} from "./arrangement";
import {
  arrangement,
  keepArrangement,
  putIntoAddress,
  type ShownPanel,
  shownPanels,
} from "./arrangementStore";
import { isIn, openTab } from "./tabs";

/** A panel of the page, with its default position: see `PANEL_ORDER`. */
export interface PanelSpec {
  readonly id: PanelId;
  readonly title: string;
  /** Spans both columns; "narrow": unless the page is very wide. */
  readonly wide?: boolean | "narrow";
  /** Shows more detail when large. */
  readonly growable?: boolean;
  /** Stable while its content is the same. */
  readonly body: ReactNode;
}

interface ArrangedPanelsProps {
  readonly panels: readonly PanelSpec[];
}

/** Panels of the open tab in the user's order, folded or large as last set. */
export function ArrangedPanels({ panels }: ArrangedPanelsProps) {
  const text = useStore(arrangement);
  const tab = useStore(openTab);
  useEffect(putIntoAddress);
  const placed = useMemo(() => arrange(PANEL_ORDER, text), [text]);
  const shown = placed.flatMap(({ id, folded, large }) => {
    const spec = panels.find((each) => each.id === id && isIn(tab, each.id));
    return spec ? [{ ...spec, folded, large }] : [];
  });
  useShown(panels);
  const full = fullWidths(shown.map((each) => ({ ...each, wide: Boolean(each.wide) })));
  const moves = useMoves(shown);
  return (
    <div className={styles.grid}>
      {shown.map((panel, at) => (
        <Slot
          key={panel.id}
          panel={panel}
          folded={panel.folded}
          large={panel.large}
          full={full[at] ?? true}
          moves={moves}
        />
      ))}
      <p className="visually-hidden" role="status">
        {moves.said}
      </p>
    </div>
  );
}

/** Publish the page's panels to the navigation bar. */
function useShown(shown: readonly ShownPanel[]): void {
  useEffect(() => {
    const next = shown.map(({ id, title }) => ({ id, title }));
    if (JSON.stringify(next) !== JSON.stringify(shownPanels.get())) shownPanels.set(next);
  });
  useEffect(() => () => shownPanels.set([]), []);
}

interface SlotProps {
  readonly panel: PanelSpec;
  readonly folded: boolean;
  readonly large: boolean;
  readonly full: boolean;
  readonly moves: PanelMoves;
}

/** The slot of one panel. */
function Slot({ panel, folded, large, full, moves }: SlotProps) {
  const { id, title, growable = false, body } = panel;
  const { change, move, drag, drop, goal } = moves;
  const slot = useMemo(() => {
    const fold = (
      <FoldButton title={title} folded={folded} onFold={(to) => change(id, { folded: to })} />
    );
    const tools = (
      <SlotTools
        id={id}
        title={title}
        large={large}
        growable={growable && !folded}
        onLarge={(to) => change(id, { large: to })}
        onMove={(by) => move(id, by)}
        onDrag={(x, y) => drag(id, x, y)}
        onDrop={(there) => drop(id, there)}
      />
    );
    return { large, fold, tools };
  }, [id, title, large, folded, growable, change, move, drag, drop]);
  return (
    <div
      id={`panel-${id}`}
      className={styles.slot}
      tabIndex={-1}
      data-slot={id}
      data-full={full}
      data-narrow={panel.wide === "narrow" && !large && !folded}
      data-drop={goal?.target === id ? goal.side : undefined}
    >
      {folded ? (
        <section aria-label={title} className={`surface ${styles.folded}`}>
          {slot.fold}
          <h2>{title}</h2>
          {slot.tools}
        </section>
      ) : (
        <PanelSlotContext value={slot}>{body}</PanelSlotContext>
      )}
    </div>
  );
}

interface FoldButtonProps {
  readonly title: string;
  readonly folded: boolean;
  readonly onFold: (folded: boolean) => void;
}

/** Button that folds a panel to its heading, or unfolds it. */
function FoldButton({ title, folded, onFold }: FoldButtonProps) {
  return (
    <button
      type="button"
      className={tools.tool}
      aria-expanded={!folded}
      aria-label={title}
      title={folded ? "Open" : "Fold"}
      data-fold=""
      onClick={() => onFold(!folded)}
    >
      <svg viewBox="0 0 12 12" aria-hidden="true" data-folded={folded}>
        <path d="M2.5 4.25 6 8l3.5-3.75" />
      </svg>
    </button>
  );
}

interface SlotToolsProps {
  readonly id: string;
  readonly title: string;
  readonly large: boolean;
  /** The panel has a large size. */
  readonly growable: boolean;
  readonly onLarge: (large: boolean) => void;
  readonly onMove: (by: -1 | 1) => void;
  /** Called when dragged to a point of the window, and when dropped or cancelled. */
  readonly onDrag: (x: number, y: number) => void;
  readonly onDrop: (there: boolean) => void;
}

const MOVES: Readonly<Record<string, -1 | 1>> = {
  ArrowUp: -1,
  ArrowLeft: -1,
  ArrowDown: 1,
  ArrowRight: 1,
};

/** Controls that enlarge a panel, and move it by dragging or by arrow keys. */
function SlotTools(props: SlotToolsProps) {
  const { id, title, large, growable, onLarge, onMove, onDrag, onDrop } = props;
  const onKeyDown = (event: KeyboardEvent) => {
    const by = MOVES[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onMove(by);
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button === 0) event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) {
      onDrag(event.clientX, event.clientY);
    }
  };
  return (
    <span className={styles.tools}>
      {growable ? (
        <button
          type="button"
          className={tools.tool}
          aria-pressed={large}
          aria-label={`Large: ${title}`}
          title={large ? "Default size" : "Large"}
          onClick={() => onLarge(!large)}
        >
          <svg viewBox="0 0 12 12" aria-hidden="true">
            <path d={large ? "M1.5 7.5h3v3M10.5 4.5h-3v-3" : "M6.5 1.5h4v4M5.5 10.5h-4v-4"} />
          </svg>
        </button>
      ) : null}
      <button
        type="button"
        className={`${tools.tool} ${styles.handle}`}
        aria-label={`Move: ${title}`}
        aria-description="Arrow keys move the panel up and down."
        title="Drag to move, or press ↑ ↓"
        data-move={id}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={() => onDrop(true)}
        onPointerCancel={() => onDrop(false)}
      >
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <path d="M4 2.5v.01M4 6v.01M4 9.5v.01M8 2.5v.01M8 6v.01M8 9.5v.01" />
        </svg>
      </button>
    </span>
  );
}

/**
 * Distance from the window's upper and lower edge at which a drag scrolls, and the scroll step, in
 * CSS pixels.
 */
const EDGE_PX = 72;
const SCROLL_PX = 16;

/** Drop target of a dragged panel. */
interface Goal {
  readonly target: string;
  readonly side: "before" | "behind";
}

/** Operations on panels; the functions are stable. */
interface PanelMoves {
  readonly change: (id: PanelId, part: Partial<Omit<Placed, "id">>) => void;
  readonly move: (id: PanelId, by: -1 | 1) => void;
  readonly drag: (id: PanelId, x: number, y: number) => void;
  readonly drop: (id: PanelId, there: boolean) => void;
  readonly goal: Goal | null;
  /** Announcement of a panel's new position for screen readers. */
  readonly said: string;
}

/** @param shown Panels of the page, in order. */
function useMoves(shown: readonly ShownPanel[]): PanelMoves {
  const [said, setSaid] = useState("");
  const [goal, setGoal] = useState<Goal | null>(null);
  const latest = useRef(goal);
  latest.current = goal;
  const panels = useRef(shown);
  panels.current = shown;
  // A panel moved in the DOM loses the focus.
  const held = useRef<PanelId | null>(null);
  useEffect(() => {
    if (held.current === null) return;
    document.querySelector<HTMLElement>(`[data-move="${held.current}"]`)?.focus();
    held.current = null;
  });
  const change = useCallback((id: PanelId, part: Partial<Omit<Placed, "id">>) => {
    keep(changed(now(), id, part));
  }, []);
  const move = useCallback((id: PanelId, by: -1 | 1) => {
    const ids: readonly string[] = panels.current.map((each) => each.id);
    const next = movedBy(now(), ids, id, by);
    held.current = id;
    keep(next);
    const order = next.map((each) => each.id).filter((each) => ids.includes(each));
    const title = panels.current.find((each) => each.id === id)?.title ?? "";
    setSaid(`${title}: place ${order.indexOf(id) + 1} of ${order.length}`);
  }, []);
  const drag = useCallback((id: PanelId, x: number, y: number) => {
    if (y < EDGE_PX) window.scrollBy(0, -SCROLL_PX);
    else if (y > window.innerHeight - EDGE_PX) window.scrollBy(0, SCROLL_PX);
    const next = goalAt(x, y);
    const { target, side } = latest.current ?? {};
    if (next?.target === target && next?.side === side) return;
    setGoal(next?.target === id ? null : next);
  }, []);
  const drop = useCallback((id: PanelId, there: boolean) => {
    const to = latest.current;
    setGoal(null);
    if (there && to) keep(movedBeside(now(), id, to.target, to.side));
  }, []);
  return { change, move, drag, drop, goal, said };
}

function now(): readonly Placed[] {
  return arrange(PANEL_ORDER, arrangement.get());
}

function keep(placed: readonly Placed[]): void {
  keepArrangement(arrangementText(PANEL_ORDER, placed));
}

/**
 * The panel at a point of the window, and its nearer side: horizontal if another panel is beside
 * it.
 */
function goalAt(x: number, y: number): Goal | null {
  const slot = document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-slot]");
  const target = slot?.dataset.slot;
  if (!slot || target === undefined) return null;
  const { left, top, width, height } = slot.getBoundingClientRect();
  const share = slot.dataset.full === "true" ? (y - top) / height : (x - left) / width;
  return { target, side: share < 0.5 ? "before" : "behind" };
}

/** A panel that this target cannot have. */
export interface AbsentPanel {
  readonly id: string;
  readonly title: string;
  /** The reason, and the remedy. */
  readonly reason: string;
}

/**
 * One line naming unavailable panels; opens to the reasons and remedies, which it shows at once in a
 * tab without a panel.
 */
export function AbsentPanels({ panels }: { readonly panels: readonly AbsentPanel[] }) {
  const tab = useStore(openTab);
  const shown = useStore(shownPanels);
  const alone = shown.length > 0 && !shown.some(({ id }) => isIn(tab, id));
  if (panels.length === 0) return null;
  return (
    <details className={styles.absent} open={alone}>
      <summary>
        Not available here: <span>{panels.map(({ title }) => title).join(", ")}</span>
      </summary>
      <dl>
        {panels.map(({ id, title, reason }) => (
          <div key={id} data-absent={id}>
            <dt>{title}</dt>
            <dd>{reason}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
