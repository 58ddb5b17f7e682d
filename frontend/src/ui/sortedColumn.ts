import type { ReactNode } from "react";

/** A column of a table of figures. */
export interface SortedColumn<T> {
  readonly id: string;
  readonly label: string;
  /** Second line of the heading, such as the unit. */
  readonly under?: string;
  readonly tip?: string;
  /** What rows are sorted by; texts ascend first. NaN comes last. */
  readonly value: (row: T) => number | string;
  readonly cell: (row: T) => ReactNode;
  /** rem; the first column takes what is left. */
  readonly width?: number;
  readonly text?: boolean;
}
