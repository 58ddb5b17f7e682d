/**
 * Feature `charts`: chart views of the worker in, panels with plot, legend and table out. It must
 * not compute rates or choose lines.
 */

import { type CSSProperties, type ReactNode, use, useEffect, useMemo, useState } from "react";
import { theme } from "../../base/theme";
import { useSelected, useStore, useThrottled } from "../../base/useStore";
import { clockText } from "../../chart/axes";
import { CHART_THEMES } from "../../chart/palette";
import { chartEnds, TimeChart, type TimeChartProps } from "../../chart/TimeChart";
import { useLiveClient } from "../../stream/client";
import { counted } from "../../stream/format";
import type { ChartId, ViewRequest } from "../../stream/viewRequest";
import type { ChartView } from "../../stream/views";
import { Button } from "../../ui/Controls";
import { Panel, PanelSlotContext, PictureTable } from "../../ui/Panel";
import { ChartLegend } from "./ChartLegend";
import styles from "./ChartLegend.module.css";
import { chartTable } from "./chartTable";
import type { ChartInfo } from "./panels";

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

const HEIGHT_PX = 200;
const LARGE_PX = 380;
const smoothingOf = (view: ChartView | null) => Math.round(10 * (view?.smoothing_s ?? 0)) / 10;
const stateOf = (view: ChartView | null) => view?.state ?? "waiting";

const levelOf = (view: ViewRequest) => view.level;

/** Level of the lines, if it differs from the user's choice. */
function linesOf(view: ChartView | null): string {
  if (view?.opened) return `${counted(view.opened.threads, "thread")} of ${view.opened.name}`;
  if (!view?.stacked) return "";
  const key = view.lines[0]?.key ?? "";
  const each = key.startsWith("role:") ? "role" : key.startsWith("process:") ? "process" : "thread";
  return `stacked by ${each}`;
}

const isOpened = (view: ChartView | null) => view?.opened != null;

/** Whether a chart has nothing to show but zeros. */
function isFlat(view: ChartView | null): boolean {
  return view?.state === "ok" && !view.high.some((value) => value > 0);
}

/** True while a chart has never had anything to show: one that had keeps its place. */
function useEmpty(chart: ChartId): boolean {
  const client = useLiveClient();
  const flat = useSelected(client.chart(chart), isFlat);
  const [empty, setEmpty] = useState(true);
  const state = useSelected(client.chart(chart), stateOf);
  if (empty && state === "ok" && !flat) setEmpty(false);
  const collapsed = empty && flat;
  // A collapsed chart is still watched.
  useEffect(
    () => (collapsed ? client.mountChart(chart, 1, true) : undefined),
    [client, chart, collapsed],
  );
  return collapsed;
}

interface ChartPanelProps {
  readonly panel: ChartInfo;
  /** Additional controls in the header. */
  readonly controls?: ReactNode;
}

/** A chart with its heading and legend. */
export function ChartPanel({ panel, controls = null }: ChartPanelProps) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const smoothing = useSelected(client.chart(panel.chart), smoothingOf);
  const height = use(PanelSlotContext)?.large ? LARGE_PX : HEIGHT_PX;
  const inputs = useChartInputs(panel.chart);
  const [ends] = useState(chartEnds);
  const state = useSelected(client.chart(panel.chart), stateOf);
  const level = useSelected(client.view, levelOf);
  const of = useSelected(client.chart(panel.chart), linesOf);
  const opened = useSelected(client.chart(panel.chart), isOpened);
  const title = panel.chart === "cpu" && level !== null ? `CPU per ${level}` : panel.title;
  const empty = useEmpty(panel.chart);
  const notes = [panel.unit, of, smoothing > 0 ? `mean over ${smoothing} s` : ""];
  return (
    <Panel
      title={title}
      note={notes.filter((each) => each !== "").join(", ")}
      controls={
        opened ? (
          <Button variant="quiet" className={styles.all} onClick={() => client.select(null)}>
            Show all
          </Button>
        ) : (
          controls
        )
      }
      data-panel={panel.chart}
      table={<ChartTable chart={panel.chart} title={title} />}
    >
      {empty ? (
        <p className={styles.empty}>Nothing yet: all values are 0.</p>
      ) : (
        <div
          className={`${styles.body} ${panel.fields.length > 1 ? styles.pairedPanel : ""}`}
          style={{ "--height": `${height}px` } as CSSProperties}
        >
          <ChartFrame message={state === "waiting" ? "Waiting for two samples…" : null}>
            <TimeChart {...inputs} ends={ends} theme={colours} title={title} height={height} />
          </ChartFrame>
          <ChartLegend chart={panel.chart} theme={colours} ends={ends} height={height} />
        </div>
      )}
    </Panel>
  );
}
