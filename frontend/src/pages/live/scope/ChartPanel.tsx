import { useLiveClient } from "../../../base/liveClient";
import { theme } from "../../../base/theme";
import { useReadable } from "../../../base/useReadable";
import { TimeChart } from "../../../charts/TimeChart";
import { ChartLegend } from "./ChartLegend";
import styles from "./ChartPanel.module.css";
import { CHART_THEMES } from "./chartTheme";
import type { Panel } from "./panels";

const HEIGHT_PX = 200;

/** A chart with its heading and legend. */
export function ChartPanel({ panel }: { readonly panel: Panel }) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useReadable(theme)];
  const view = useReadable(client.chart(panel.chart));
  const smoothing = view?.smoothing_s ?? 0;
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
          {view === null || view.state === "waiting" ? (
            <p className={styles.over}>Waiting for two samples…</p>
          ) : null}
        </div>
        <ChartLegend chart={panel.chart} theme={colours} />
      </div>
    </section>
  );
}
