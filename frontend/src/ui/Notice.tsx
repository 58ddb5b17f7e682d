import type { ReactNode } from "react";
import { Mark, type MarkKind } from "./Mark";
import styles from "./Notice.module.css";

interface NoticeProps {
  readonly kind: MarkKind;
  readonly title: string;
  readonly children?: ReactNode;
  /** Buttons. */
  readonly actions?: ReactNode;
  /** Speak it at once to those who cannot see it. */
  readonly urgent?: boolean;
}

/** A state in words, with what can be done about it. */
export function Notice({ kind, title, children, actions, urgent = false }: NoticeProps) {
  return (
    <div className={`${styles.notice} ${styles[kind] ?? ""}`} role={urgent ? "alert" : "status"}>
      <span className={styles.icon}>
        <Mark kind={kind} />
      </span>
      <div className={styles.text}>
        <p className={styles.title}>{title}</p>
        {children === undefined ? null : <div className={styles.body}>{children}</div>}
      </div>
      {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
