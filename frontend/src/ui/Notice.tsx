import type { ReactNode } from "react";
import styles from "./Notice.module.css";
import { type Status, StatusIcon } from "./StatusIcon";

interface NoticeProps {
  readonly status: Status;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** Announce at once to screen readers. */
  readonly urgent?: boolean;
}

/** A status message with optional actions. */
export function Notice({ status, title, children, actions, urgent = false }: NoticeProps) {
  return (
    <div className={`${styles.notice} ${styles[status] ?? ""}`} role={urgent ? "alert" : "status"}>
      <span className={styles.icon}>
        <StatusIcon status={status} />
      </span>
      <div className={styles.text}>
        <p className={styles.title}>{title}</p>
        {children === undefined ? null : <div className={styles.body}>{children}</div>}
      </div>
      {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
