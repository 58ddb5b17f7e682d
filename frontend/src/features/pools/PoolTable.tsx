import { clockText } from "../../chart/axes";
import { formatValue } from "../../stream/format";
import type { PoolRow } from "../../stream/poolsView";
import { PictureTable } from "../../ui/PictureTable";

/** Readings that are listed. */
const ROWS = 12;

const COLUMNS = [
  { id: "time", name: "Time" },
  { id: "size", name: "Size" },
  { id: "busy", name: "Busy" },
  { id: "finished", name: "Finished" },
  { id: "submitted", name: "Submitted" },
  { id: "ait", name: "Queue wait, mean" },
];

interface PoolTableProps {
  readonly row: PoolRow;
  /** Attach, Unix milliseconds. */
  readonly attached_unix_ms: number;
}

/** How a pool went, as a table: some of its readings, newest first. */
export function PoolTable({ row, attached_unix_ms }: PoolTableProps) {
  const { time_s, size, busy, finished_per_s, submitted_per_s, ait_s } = row.series;
  const step = Math.max(1, Math.floor(time_s.length / ROWS));
  const places = Array.from(time_s.keys())
    .reverse()
    .filter((_, n) => n % step === 0);
  const series = [
    [size, "count"],
    [busy, "count"],
    [finished_per_s, "1/s"],
    [submitted_per_s, "1/s"],
    [ait_s, "s"],
  ] as const;
  return (
    <PictureTable
      label={`Pool ${row.name}`}
      columns={COLUMNS}
      rows={places.map((place) => ({
        id: place,
        head: clockText(attached_unix_ms + 1000 * (time_s[place] ?? Number.NaN)),
        cells: series.map(([values, unit]) => formatValue(values[place] ?? Number.NaN, unit)),
      }))}
    />
  );
}
