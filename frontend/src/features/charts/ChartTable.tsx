import { useThrottled } from "../../base/useStore";
import { clockText } from "../../chart/axes";
import { useLiveClient } from "../../stream/clients";
import type { ChartId } from "../../stream/viewRequest";
import { PictureTable } from "../../ui/PictureTable";
import { chartTable } from "./chartTable";

/** A table is read line by line: it changes less often than what is glanced at. */
const READ_MS = 2000;
const TIME = { id: "time", name: "Time" };

interface ChartTableProps {
  readonly chart: ChartId;
  readonly title: string;
}

/** A chart as a table: its lines at some instants, newest first. */
export function ChartTable({ chart, title }: ChartTableProps) {
  const view = useThrottled(useLiveClient().chart(chart), READ_MS);
  if (view?.state !== "ok") return null;
  const { columns, rows } = chartTable(view);
  const short = rows.some(({ unix_ms }, n) => n > 1 && unix_ms % 1000 !== 0);
  return (
    <PictureTable
      label={title}
      columns={[TIME, ...columns]}
      rows={rows.map(({ unix_ms, cells }) => ({
        id: unix_ms,
        head: clockText(unix_ms, short),
        cells,
      }))}
    />
  );
}
