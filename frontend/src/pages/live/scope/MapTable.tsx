import { useState } from "react";
import { formatPercent } from "../../../model/format";
import { groupAt, threadsOf } from "../../../model/mapLayout";
import {
  cellShares,
  cellValue,
  type MapPicture,
  NO_FIELD,
  placeAt,
} from "../../../model/mapPicture";
import { cellStateName, sharesOfCell } from "../../../model/stateCells";
import styles from "./MapTable.module.css";

/** More rows than this are read nowhere; the filter and the thread table narrow them down. */
const MOST = 200;

interface MapTableProps {
  readonly picture: MapPicture | null;
}

/** The newest column of a map of states in words, on request. */
export function MapTable({ picture }: MapTableProps) {
  const [open, setOpen] = useState(false);
  return (
    <details className={styles.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {open && picture !== null && picture.view.state === "ok" ? <Rows picture={picture} /> : null}
    </details>
  );
}

function Rows({ picture }: { readonly picture: MapPicture }) {
  const { layout } = picture;
  // The last column is still being filled.
  const column = Math.max(picture.from, picture.to - 2);
  const rows = Array.from({ length: Math.min(MOST, layout.rows) }, (_, row) => row).filter(
    (row) => threadsOf(layout, row) > 0,
  );
  return (
    <div className={styles.scroll}>
      <table className={styles.table} aria-label="What threads do now">
        <thead>
          <tr>
            <th scope="col">Thread</th>
            <th scope="col">Role</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const place = placeAt(picture, column, row);
            const group = groupAt(layout, row);
            const process = layout.processes[place] ?? "";
            return (
              <tr key={row}>
                <th scope="row">
                  {layout.names[place]} ({layout.tid[place]})
                  {process === "" ? "" : ` of ${process}`}
                </th>
                <td>{group?.role}</td>
                <td>{stateText(picture, column, row)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {layout.rows > MOST ? <p>The first {MOST} rows; filter threads to see others.</p> : null}
    </div>
  );
}

function stateText(picture: MapPicture, column: number, row: number): string {
  const value = cellValue(picture, column, row);
  if (Number.isNaN(value)) {
    return "not running";
  }
  if (value === NO_FIELD) {
    return "no ledger of this thread";
  }
  const shares = sharesOfCell(value, cellShares(picture, column, row));
  return shares
    .map(({ number, share }) => `${cellStateName(number)} ${formatPercent(share)}`)
    .join(", ");
}
