import { theme } from "../../../base/theme";
import { useSelected, useStore } from "../../../base/useStore";
import { TimeChart } from "../../../charts/TimeChart";
import type { ViewRequest } from "../../../model/viewRequest";
import type { ChartView } from "../../../model/views";
import { Panel } from "../../../ui/Panel";
import { useLiveClient } from "../../clients";
import { ChartFrame } from "./ChartFrame";
import { ChartLegend } from "./ChartLegend";
import styles from "./ChartPanel.module.css";
import { CHART_THEMES } from "./chartTheme";
import type { ChartInfo } from "./panels";
import { useChartInputs } from "./useChartInputs";

const HEIGHT_PX = 200;
const smoothingOf = (view: ChartView | null) => Math.round(10 * (view?.smoothing_s ?? 0)) / 10;
const stateOf = (view: ChartView | null) => view?.state ?? "waiting";

const levelOf = (view: ViewRequest) => view.level;

interface ChartPanelProps {
  readonly panel: ChartInfo;
  /** The target is a group of processes. */
  readonly group: boolean;
}

/** A chart with its heading and legend. */
export function ChartPanel({ panel, group }: ChartPanelProps) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const smoothing = useSelected(client.chart(panel.chart), smoothingOf);
  const inputs = useChartInputs(panel.chart);
  const state = useSelected(client.chart(panel.chart), stateOf);
  const level = useSelected(client.view, levelOf) ?? (group ? "process" : "thread");
  const title = panel.title.replace("thread", level);
  return (
    <Panel
      title={title}
      note={`${panel.unit}${smoothing > 0 ? `, mean over ${smoothing} s` : ""}`}
      data-panel={panel.chart}
    >
      <div className={`${styles.body} ${panel.fields.length > 1 ? styles.paired : ""}`}>
        <ChartFrame message={state === "waiting" ? "Waiting for two samples…" : null}>
          <TimeChart {...inputs} theme={colours} title={title} height={HEIGHT_PX} />
        </ChartFrame>
        <ChartLegend chart={panel.chart} theme={colours} />
      </div>
    </Panel>
  );
}
