import { theme } from "../../../base/theme";
import { useSelected, useStore } from "../../../base/useStore";
import { TimeChart } from "../../../charts/TimeChart";
import type { ChartView } from "../../../model/views";
import { useLiveClient } from "../../clients";
import { ChartLegend } from "./ChartLegend";
import styles from "./ChartPanel.module.css";
import { CHART_THEMES } from "./chartTheme";
import type { Panel } from "./panels";

const HEIGHT_PX = 200;
const smoothingOf = (view: ChartView | null) => Math.round(10 * (view?.smoothing_s ?? 0)) / 10;
const stateOf = (view: ChartView | null) => view?.state ?? "waiting";

/** A chart with its heading and legend. */
export function ChartPanel({ panel }: { readonly panel: Panel }) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const smoothing = useSelected(client.chart(panel.chart), smoothingOf);
  const state = useSelected(client.chart(panel.chart), stateOf);
  return (
    <section className={styles.panel} aria-label={panel.title} data-panel={panel.chart}>
      <header className={styles.head}>
        <h2>{panel.title}</h2>
        <span className={styles.unit}>
          {panel.unit}
          {smoothing > 0 ? `, mean over ${smoothing} s` : ""}
        </span>
      </header>
      <div className={`${styles.body} ${panel.fields.length > 1 ? styles.paired : ""}`}>
        <div className={styles.chart}>
          <TimeChart
            client={client}
            chart={panel.chart}
            theme={colours}
            title={panel.title}
            height={HEIGHT_PX}
          />
          {state === "waiting" ? <p className={styles.over}>Waiting for two samples…</p> : null}
        </div>
        <ChartLegend chart={panel.chart} theme={colours} />
      </div>
    </section>
  );
}
