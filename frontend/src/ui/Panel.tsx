import { createContext, type HTMLAttributes, type ReactNode, use, useState } from "react";
import styles from "./Panel.module.css";
import tools from "./Tool.module.css";

interface PanelProps extends HTMLAttributes<HTMLElement> {
  readonly title: string;
  /** Beside the title, such as the unit. */
  readonly note?: ReactNode;
  /** Controls in the header. */
  readonly controls?: ReactNode;
  /** What its picture shows, as a table that stands below on request. */
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

/** What a panel is given by the place that it stands in. */
interface PanelSlot {
  /** It has the room to show more. */
  readonly large: boolean;
  /** What stands before its heading, and at the far end of its head. */
  readonly fold: ReactNode;
  readonly tools: ReactNode;
}

/** Null: it stands by itself. */
export const PanelSlotContext = createContext<PanelSlot | null>(null);
