import { READABLE_MS, useThrottled } from "../../base/useStore";
import { clockText } from "../../chart/axes";
import { useLiveClient } from "../../stream/clients";
import { formatPercent } from "../../stream/format";
import { groupAt, threadsOf } from "../../stream/mapLayout";
import { cellShares, cellValue, type MapPicture, placeAt } from "../../stream/mapPicture";
import { cellStateName, sharesOfCell } from "../../stream/stateCells";
import { STATE_FIELD } from "../../stream/states";
import { PictureTable } from "../../ui/PictureTable";
import { valueText } from "./mapText";

/** More rows than this are read nowhere; the filter and the thread table narrow them down. */
const MOST = 200;
/** Instants before the newest one. */
const EARLIER = 4;

/** The map in words: its newest column, and some before it. */
export function MapTable() {
  const picture = useThrottled(useLiveClient().map, READABLE_MS);
  if (picture === null || picture.view.state !== "ok") return null;
  const { layout, view } = picture;
  // The last column is still being filled.
  const newest = Math.max(picture.from, picture.to - 2);
  const step = Math.max(1, Math.floor((newest - picture.from) / EARLIER));
  const earlier = Array.from({ length: EARLIER }, (_, n) => newest - (n + 1) * step).filter(
    (column) => column >= picture.from,
  );
  const rows = Array.from({ length: Math.min(MOST, layout.rows) }, (_, row) => row).filter(
    (row) => threadsOf(layout, row) > 0,
  );
  const timeOf = (column: number) => clockText(view.attached_unix_ms + 1000 * column * view.bin_s);
  return (
    <PictureTable
      label="What threads do now"
      columns={[
        { id: "thread", name: "Thread" },
        { id: "role", name: "Role" },
        { id: "now", name: `Now, ${timeOf(newest)}` },
        ...earlier.map((column, n) => ({ id: `${n}`, name: timeOf(column) })),
      ]}
      rows={rows.map((row) => ({
        id: row,
        head: threadText(picture, newest, row),
        cells: [
          groupAt(layout, row)?.role ?? "",
          ...[newest, ...earlier].map((column) => cellText(picture, column, row)),
        ],
      }))}
      {...(layout.rows > MOST
        ? { note: `The first ${MOST} rows; filter threads to see others.` }
        : {})}
    />
  );
}

function threadText(picture: MapPicture, column: number, row: number): string {
  const { layout } = picture;
  const place = placeAt(picture, column, row);
  const process = layout.processes[place] ?? "";
  const thread = `${layout.names[place]} (${layout.tid[place]})`;
  return process === "" ? thread : `${thread} of ${process}`;
}

function cellText(picture: MapPicture, column: number, row: number): string {
  const value = cellValue(picture, column, row);
  if (picture.view.field !== STATE_FIELD || !(value >= 0)) return valueText(picture, column, value);
  return sharesOfCell(value, cellShares(picture, column, row))
    .map(({ number, share }) => `${cellStateName(number)} ${formatPercent(share)}`)
    .join(", ");
}
