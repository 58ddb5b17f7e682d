import type { ReactNode } from "react";
import styles from "./EmptyState.module.css";

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** The state fills the page: its title is the page's. */
  readonly page?: boolean;
}

/** Placeholder for missing content: why it is missing, and what to do. */
export function EmptyState({ title, children, page = false }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <svg className={styles.trace} viewBox="0 0 240 48" aria-hidden="true">
        <path d="M0 24.5h240M0 8.5h240M0 40.5h240M40.5 0v48M80.5 0v48M120.5 0v48M160.5 0v48M200.5 0v48" />
        <path className={styles.line} d="M0 24.5h240" />
      </svg>
      {page ? <h1>{title}</h1> : <h2>{title}</h2>}
      <div className={styles.body}>{children}</div>
    </div>
  );
}
