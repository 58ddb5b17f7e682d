import { theme } from "../../../base/theme";
import { useSelected, useStore } from "../../../base/useStore";
import { TimeChart } from "../../../charts/TimeChart";
import { signalName, sizeTitle } from "../../../model/steerText";
import type { ChartView } from "../../../model/views";
import { StatusIcon } from "../../../ui/StatusIcon";
import type { Target } from "../../../wire/generated/models";
import { useLiveClient } from "../../clients";
import { ChartLegend } from "./ChartLegend";
import panel from "./ChartPanel.module.css";
import { CHART_THEMES } from "./chartTheme";
import styles from "./SizePanel.module.css";

const SIZE_PX = 168;
const OPS_PX = 132;
const stateOf = (view: ChartView | null) => view?.state ?? "waiting";

/** The timeline of a steered program: the size in force, and what it gets done under it. */
export function SizePanel({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const steer = useStore(client.steer);
  const ops = useSelected(client.chart("ops"), stateOf);
  const band = steer?.bands.at(-1) ?? target.steering;
  const title = sizeTitle(band?.knob ?? null);
  const signal = band === null ? "" : signalName(band.signal);
  return (
    <section
      className={`${panel.panel} ${styles.timeline}`}
      aria-label={`${title} timeline`}
      data-panel="gomaxprocs"
    >
      <header className={panel.head}>
        <h2>{title}</h2>
        <span className={panel.unit}>size in force</span>
      </header>
      <div className={styles.body}>
        <div className={panel.chart}>
          <TimeChart
            client={client}
            chart="gomaxprocs"
            theme={colours}
            title={title}
            height={SIZE_PX}
          />
        </div>
        <ChartLegend chart="gomaxprocs" theme={colours} />
      </div>
      <header className={panel.head}>
        <h3 className={styles.under}>Ops</h3>
        <span className={panel.unit}>per second{signal === "" ? "" : `: ${signal}`}</span>
        {band?.proxy ? (
          <span className={styles.proxy}>
            <StatusIcon status="warning" /> stands in for ops
          </span>
        ) : null}
      </header>
      <div className={styles.body}>
        <div className={panel.chart}>
          <TimeChart client={client} chart="ops" theme={colours} title="Ops" height={OPS_PX} />
          {ops === "ok" ? null : (
            <p className={panel.over}>
              {ops === "waiting" ? "The first interval is not over yet…" : "Nothing steers here."}
            </p>
          )}
        </div>
        <ChartLegend chart="ops" theme={colours} />
      </div>
      <p className={styles.key} aria-hidden="true">
        <span className={styles.moved} /> size changed
        <span className={styles.kept} /> decision to stay
        <span className={styles.restart} /> search restarted
      </p>
    </section>
  );
}
