import type { KeyboardEvent, PointerEvent } from "react";
import tools from "../../ui/Tool.module.css";
import styles from "./SlotTools.module.css";

interface FoldButtonProps {
  readonly title: string;
  readonly folded: boolean;
  readonly onFold: (folded: boolean) => void;
}

/** Folds a panel to its heading, or opens it. */
export function FoldButton({ title, folded, onFold }: FoldButtonProps) {
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
  /** It has a size to grow to. */
  readonly growable: boolean;
  readonly onLarge: (large: boolean) => void;
  readonly onMove: (by: -1 | 1) => void;
  /** It is dragged to a point of the window; or dropped where it was dragged to, or nowhere. */
  readonly onDrag: (x: number, y: number) => void;
  readonly onDrop: (there: boolean) => void;
}

const MOVES: Readonly<Record<string, -1 | 1>> = {
  ArrowUp: -1,
  ArrowLeft: -1,
  ArrowDown: 1,
  ArrowRight: 1,
};

/** Makes a panel large, and moves it: dragged, or by the arrow keys. */
export function SlotTools(props: SlotToolsProps) {
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
          title={large ? "Usual size" : "Large"}
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
