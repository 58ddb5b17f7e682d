import { useCallback, useEffect, useRef, useState } from "react";
import { PANEL_ORDER, type PanelId } from "../charts/panels";
import {
  arrange,
  arrangementText,
  changed,
  movedBeside,
  movedBy,
  type Placed,
} from "./arrangement";
import { arrangement, keepArrangement } from "./arrangementStore";
import type { ShownPanel } from "./shownPanels";

/** Near the upper and lower end of the window a drag scrolls the page by so much at a time. */
const EDGE_PX = 72;
const SCROLL_PX = 16;

/** Where a dragged panel would go. */
interface Goal {
  readonly target: string;
  readonly side: "before" | "behind";
}

/** What a person does with panels; the functions stay the same. */
export interface PanelMoves {
  readonly change: (id: PanelId, part: Partial<Omit<Placed, "id">>) => void;
  readonly move: (id: PanelId, by: -1 | 1) => void;
  readonly drag: (id: PanelId, x: number, y: number) => void;
  readonly drop: (id: PanelId, there: boolean) => void;
  readonly goal: Goal | null;
  /** For those who do not see it: where a panel went. */
  readonly said: string;
}

/** @param shown Panels of the page, in their order. */
export function useMoves(shown: readonly ShownPanel[]): PanelMoves {
  const [said, setSaid] = useState("");
  const [goal, setGoal] = useState<Goal | null>(null);
  const latest = useRef(goal);
  latest.current = goal;
  const panels = useRef(shown);
  panels.current = shown;
  // A panel that is moved in the page loses the focus.
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

/** The panel at a point of the window, and its nearer side: across, where another is beside it. */
function goalAt(x: number, y: number): Goal | null {
  const slot = document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-slot]");
  const target = slot?.dataset.slot;
  if (!slot || target === undefined) return null;
  const { left, top, width, height } = slot.getBoundingClientRect();
  const share = slot.dataset.full === "true" ? (y - top) / height : (x - left) / width;
  return { target, side: share < 0.5 ? "before" : "behind" };
}
