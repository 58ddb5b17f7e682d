/** Folder `ui`: props in, elements out. It must not know the worker, requests or features. */

import { createContext, type HTMLAttributes, type ReactNode, use, useState } from "react";
import styles from "./Panel.module.css";

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
            className={styles.tool}
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

/** Attributes of a scrollable element without focusable content, so that keys can scroll it. */
export function scrollable(label: string) {
  return { role: "region", tabIndex: 0, "aria-label": label } as const;
}

interface PictureTableProps {
  readonly label: string;
  /** The first column holds row headers. */
  readonly columns: readonly { readonly id: string; readonly name: string }[];
  /** One cell for each column except the first. */
  readonly rows: readonly {
    readonly id: string | number;
    readonly head: string;
    readonly cells: readonly string[];
  }[];
  /** Note on data missing from the table. */
  readonly note?: string;
}

/** A chart's data as a table, for screen reader users and for exact numbers. */
export function PictureTable({ label, columns, rows, note }: PictureTableProps) {
  const others = columns.slice(1);
  return (
    <div className={styles.scroll} {...scrollable(`${label} as a table`)}>
      <table className={styles.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ id, name }) => (
              <th key={id} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">{row.head}</th>
              {others.map(({ id }, place) => (
                <td key={id}>{row.cells[place]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {note === undefined ? null : <p className="note">{note}</p>}
    </div>
  );
}
