import { type ReactNode, useMemo } from "react";
import { useThrottled } from "../../base/useStore";
import { clockText } from "../../chart/axes";
import type { TimeChartProps } from "../../chart/TimeChart";
import { useLiveClient } from "../../stream/clients";
import type { ChartId } from "../../stream/viewRequest";
import { PictureTable } from "../../ui/Panel";
import styles from "./ChartPanel.module.css";
import { chartTable } from "./chartTable";

interface ChartFrameProps {
  /** Shown over an empty chart; null for nothing. */
  readonly message: string | null;
  readonly children: ReactNode;
}

/** A chart, with a message while empty. */
export function ChartFrame({ message, children }: ChartFrameProps) {
  return (
    <div className={styles.chart}>
      {children}
      {message === null ? null : <p className={styles.message}>{message}</p>}
    </div>
  );
}

/** Update interval of tables, in ms: tables are read line by line. */
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

/** Stores and gesture callbacks for a chart of the followed target or run. */
export function useChartInputs(
  chart: ChartId,
): Pick<TimeChartProps, "chart" | "source" | "controls" | "onPlot"> {
  const client = useLiveClient();
  return useMemo(
    () => ({
      chart,
      source: {
        view: client.chart(chart),
        steering: client.steer,
        hover: client.hover,
        axis: client.axis,
      },
      controls: {
        window: () => client.view.get().window,
        extent: client.extent,
        onPoint: client.hover.set,
        onSelect: client.select,
        onWindow: (window) => client.request({ window }),
      },
      onPlot: (width_px, inView) => client.mountChart(chart, width_px, inView),
    }),
    [client, chart],
  );
}
