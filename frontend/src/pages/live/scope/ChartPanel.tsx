import { theme } from "../../../base/theme";
import { useSelected, useStore } from "../../../base/useStore";
import { TimeChart } from "../../../charts/TimeChart";
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

/** A chart with its heading and legend. */
export function ChartPanel({ panel }: { readonly panel: ChartInfo }) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const smoothing = useSelected(client.chart(panel.chart), smoothingOf);
  const inputs = useChartInputs(panel.chart);
  const state = useSelected(client.chart(panel.chart), stateOf);
  return (
    <Panel
      title={panel.title}
      note={`${panel.unit}${smoothing > 0 ? `, mean over ${smoothing} s` : ""}`}
      data-panel={panel.chart}
    >
      <div className={`${styles.body} ${panel.fields.length > 1 ? styles.paired : ""}`}>
        <ChartFrame message={state === "waiting" ? "Waiting for two samples…" : null}>
          <TimeChart {...inputs} theme={colours} title={panel.title} height={HEIGHT_PX} />
        </ChartFrame>
        <ChartLegend chart={panel.chart} theme={colours} />
      </div>
    </Panel>
  );
}
