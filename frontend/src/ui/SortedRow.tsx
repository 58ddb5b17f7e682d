import { Fragment, memo, type ReactNode } from "react";
import styles from "./SortedTable.module.css";
import type { SortedColumn } from "./sortedColumn";

interface SortedRowProps<T> {
  readonly row: T;
  readonly rowKey: string;
  readonly index: number;
  readonly columns: readonly SortedColumn<T>[];
  /** Among rows that are not drawn: its place is said. */
  readonly partly: boolean;
  readonly pressed: boolean;
  /** Tab reaches it. */
  readonly reachable: boolean;
  readonly expands: boolean;
  /** What stands below it; null: it is not open. */
  readonly below: ReactNode;
  readonly onPress: ((row: T) => void) | undefined;
  readonly onPoint: ((row: T | null) => void) | undefined;
}

const NOTHING = () => undefined;

/** A row of a table of figures, drawn when something of it differs. */
export const SortedRow = memo(Row) as typeof Row;

function Row<T>(props: SortedRowProps<T>) {
  const { row, rowKey, index, columns, partly, pressed, expands, below, onPress, onPoint } = props;
  const [head, ...rest] = columns;
  return (
    <Fragment>
      <tr
        className={styles.row}
        aria-rowindex={partly ? index + 2 : undefined}
        data-key={rowKey}
        data-selected={pressed}
        onPointerEnter={onPoint ? () => onPoint(row) : NOTHING}
        onPointerLeave={onPoint ? () => onPoint(null) : NOTHING}
      >
        <th scope="row">
          {onPress ? (
            <button
              type="button"
              className={styles.press}
              data-row={index}
              tabIndex={props.reachable ? 0 : -1}
              aria-expanded={expands ? below !== null : undefined}
              aria-pressed={expands ? undefined : pressed}
              onClick={() => onPress(row)}
              onFocus={onPoint ? () => onPoint(row) : NOTHING}
              onBlur={onPoint ? () => onPoint(null) : NOTHING}
            >
              {head?.cell(row)}
            </button>
          ) : (
            head?.cell(row)
          )}
        </th>
        {rest.map((column) => (
          <td key={column.id} className={column.text ? styles.text : styles.number}>
            {column.cell(row)}
          </td>
        ))}
      </tr>
      {below === null ? null : (
        <tr className={styles.below}>
          <td colSpan={columns.length} className={styles.more}>
            {below}
          </td>
        </tr>
      )}
    </Fragment>
  );
}
