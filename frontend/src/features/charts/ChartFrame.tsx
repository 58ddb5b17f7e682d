import type { ReactNode } from "react";
import styles from "./ChartPanel.module.css";

interface ChartFrameProps {
  /** Shown over the chart while it has nothing to draw; null: nothing. */
  readonly message: string | null;
  readonly children: ReactNode;
}

/** A chart, and what is said over it while it is empty. */
export function ChartFrame({ message, children }: ChartFrameProps) {
  return (
    <div className={styles.chart}>
      {children}
      {message === null ? null : <p className={styles.message}>{message}</p>}
    </div>
  );
}
