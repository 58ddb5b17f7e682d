import { type ReactNode, useEffect, useMemo } from "react";
import { useStore } from "../../base/useStore";
import { PanelSlotContext } from "../../ui/panelSlot";
import { PANEL_ORDER, type PanelId } from "../charts/panels";
import styles from "./ArrangedPanels.module.css";
import { arrange, fullWidths } from "./arrangement";
import { arrangement, putIntoAddress } from "./arrangementStore";
import { FoldButton, SlotTools } from "./SlotTools";
import { type ShownPanel, shownPanels } from "./shownPanels";
import { type PanelMoves, useMoves } from "./useMoves";

/** A panel that the page has, and where it stands unless somebody moves it: see `PANEL_ORDER`. */
export interface PanelSpec {
  readonly id: PanelId;
  readonly title: string;
  /** It always takes both columns. */
  readonly wide?: boolean;
  /** It shows more when it is large. */
  readonly growable?: boolean;
  /** The same element as long as it shows the same. */
  readonly body: ReactNode;
}

interface ArrangedPanelsProps {
  readonly panels: readonly PanelSpec[];
}

/** Panels in a person's order, folded or large as they were left. */
export function ArrangedPanels({ panels }: ArrangedPanelsProps) {
  const text = useStore(arrangement);
  useEffect(putIntoAddress);
  const placed = useMemo(() => arrange(PANEL_ORDER, text), [text]);
  const shown = placed.flatMap(({ id, folded, large }) => {
    const spec = panels.find((each) => each.id === id);
    return spec ? [{ ...spec, folded, large }] : [];
  });
  useShown(shown);
  const full = fullWidths(shown.map((each) => ({ ...each, wide: each.wide ?? false })));
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

/** Let the bar above know which panels there are. */
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

/** The place of one panel. */
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
