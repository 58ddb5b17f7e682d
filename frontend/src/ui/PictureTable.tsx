import styles from "./PictureTable.module.css";
import { scrollable } from "./scrollable";

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
