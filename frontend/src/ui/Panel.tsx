import { type HTMLAttributes, type ReactNode, use } from "react";
import styles from "./Panel.module.css";
import { PanelSlotContext } from "./panelSlot";

interface PanelProps extends HTMLAttributes<HTMLElement> {
  readonly title: string;
  /** Beside the title, such as the unit. */
  readonly note?: ReactNode;
  /** Controls in the header. */
  readonly controls?: ReactNode;
}

/** A framed region with a heading. */
export function Panel({
  title,
  note = null,
  controls,
  className = "",
  children,
  ...rest
}: PanelProps) {
  const slot = use(PanelSlotContext);
  return (
    <section aria-label={title} className={`surface ${styles.panel} ${className}`} {...rest}>
      <header className={styles.head}>
        {slot?.fold}
        <div className={styles.words}>
          <h2>{title}</h2>
          {note === null ? null : <span className={`note ${styles.note}`}>{note}</span>}
          {controls}
        </div>
        {slot?.tools}
      </header>
      <PanelSlotContext value={null}>{children}</PanelSlotContext>
    </section>
  );
}
