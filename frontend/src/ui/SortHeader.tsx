import type { ReactNode } from "react";
import styles from "./SortHeader.module.css";
import { Tooltip } from "./Tooltip";

interface SortHeaderProps {
  readonly label: string;
  /** Second line, such as the unit; "" if none. */
  readonly under?: string;
  readonly tip?: ReactNode;
  /** Sort direction of this column, or null if another column sorts the rows. */
  readonly sorted: "ascending" | "descending" | null;
  readonly numeric?: boolean;
  readonly onSort: () => void;
  readonly className?: string | undefined;
}

/** A column header that sorts the rows when pressed. */
export function SortHeader({
  label,
  under = "",
  tip = null,
  sorted,
  numeric = false,
  onSort,
  className = "",
}: SortHeaderProps) {
  const arrow =
    sorted === null ? null : (
      <span className={styles.arrow} aria-hidden="true">
        {sorted === "ascending" ? " ▲ " : " ▼ "}
      </span>
    );
  return (
    <th
      scope="col"
      aria-sort={sorted ?? "none"}
      className={`${className} ${numeric ? styles.numeric : ""}`}
    >
      <Tooltip text={tip} className={styles.tip}>
        <button type="button" className={styles.button} onClick={onSort}>
          <span className={styles.label}>
            {label}
            {under === "" ? arrow : null}
          </span>
          {under === "" ? null : (
            <span className={styles.under}>
              {arrow}
              {under}
            </span>
          )}
        </button>
      </Tooltip>
    </th>
  );
}
