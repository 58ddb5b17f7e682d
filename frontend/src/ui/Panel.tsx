/** Folder `ui`: props in, elements out. It must not know the worker, requests or features. */

import { createContext, type HTMLAttributes, type ReactNode, use, useState } from "react";
import styles from "./Panel.module.css";
import tools from "./Tool.module.css";

interface PanelProps extends HTMLAttributes<HTMLElement> {
  readonly title: string;
  /** Content beside the title, such as the unit. */
  readonly note?: ReactNode;
  /** Controls in the header. */
  readonly controls?: ReactNode;
  /** The panel's data as a table, shown below on request. */
  readonly table?: ReactNode;
}

/** A framed region with a heading. */
export function Panel({
  title,
  note = null,
  controls,
  table,
  className = "",
  children,
  ...rest
}: PanelProps) {
  const slot = use(PanelSlotContext);
  const [tabled, setTabled] = useState(false);
  return (
    <section aria-label={title} className={`surface ${styles.panel} ${className}`} {...rest}>
      <header className={styles.head}>
        {slot?.fold}
        <div className={styles.words}>
          <h2>{title}</h2>
          {note === null ? null : <span className={`note ${styles.note}`}>{note}</span>}
          {controls}
        </div>
        {table === undefined ? null : (
          <button
            type="button"
            className={tools.tool}
            aria-expanded={tabled}
            aria-label={`Table: ${title}`}
            title={tabled ? "Without the table" : "As a table"}
            onClick={() => setTabled(!tabled)}
          >
            <svg viewBox="0 0 12 12" aria-hidden="true">
              <path d="M1.5 2.5h9v7h-9zM1.5 5h9M1.5 7.25h9M4.5 2.5v7" />
            </svg>
          </button>
        )}
        {slot?.tools}
      </header>
      <PanelSlotContext value={null}>
        {children}
        {tabled ? table : null}
      </PanelSlotContext>
    </section>
  );
}

/** Layout slot that contains a panel. */
interface PanelSlot {
  /** The slot has room for more detail. */
  readonly large: boolean;
  /** Content before the panel's heading, and at the end of its header. */
  readonly fold: ReactNode;
  readonly tools: ReactNode;
}

/** Slot around the panel, or null if the panel is not arranged. */
export const PanelSlotContext = createContext<PanelSlot | null>(null);
