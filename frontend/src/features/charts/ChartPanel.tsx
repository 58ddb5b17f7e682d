/**
 * Feature `charts`: chart views of the worker in, panels with plot, legend and table out. It must
 * not compute rates or choose lines.
 */

import { type CSSProperties, type ReactNode, use, useState } from "react";
import { theme } from "../../base/theme";
import { useSelected, useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { chartEnds, TimeChart } from "../../chart/TimeChart";
import { useLiveClient } from "../../stream/clients";
import { counted } from "../../stream/format";
import type { ViewRequest } from "../../stream/viewRequest";
import type { ChartView } from "../../stream/views";
import { Button } from "../../ui/Controls";
import { Panel, PanelSlotContext } from "../../ui/Panel";
import { ChartFrame, ChartTable, useChartInputs } from "./ChartFrame";
import { ChartLegend } from "./ChartLegend";
import styles from "./ChartPanel.module.css";
import type { ChartInfo } from "./panels";

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
  const notes = [panel.unit, of, smoothing > 0 ? `mean over ${smoothing} s` : ""];
  return (
    <Panel
      title={title}
      note={notes.filter((each) => each !== "").join(", ")}
      controls={
        opened ? (
          <Button look="quiet" className={styles.all} onClick={() => client.select(null)}>
            Show all
          </Button>
        ) : (
          controls
        )
      }
      data-panel={panel.chart}
      table={<ChartTable chart={panel.chart} title={title} />}
    >
      <div
        className={`${styles.body} ${panel.fields.length > 1 ? styles.paired : ""}`}
        style={{ "--height": `${height}px` } as CSSProperties}
      >
        <ChartFrame message={state === "waiting" ? "Waiting for two samples…" : null}>
          <TimeChart {...inputs} ends={ends} theme={colours} title={title} height={height} />
        </ChartFrame>
        <ChartLegend chart={panel.chart} theme={colours} ends={ends} height={height} />
      </div>
    </Panel>
  );
}
