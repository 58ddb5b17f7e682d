import { useState } from "react";
import { theme } from "../../base/theme";
import { useSelected, useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { chartEnds, TimeChart } from "../../chart/TimeChart";
import { useLiveClient } from "../../stream/client";
import { signalName, timelineTitle } from "../../stream/steerView";
import type { ChartView } from "../../stream/views";
import { StatusIcon } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import type { Target } from "../../wire/generated/models";
import { ChartLegend } from "../charts/ChartLegend";
import { ChartFrame, ChartTable, useChartInputs } from "../charts/ChartPanel";
import { PolicyButtons } from "./PolicyButtons";
import styles from "./trials.module.css";

const SIZE_PX = 168;
const OPS_PX = 132;
const stateOf = (view: ChartView | null) => view?.state ?? "waiting";

/** The timeline of a program: its size, and its operations below. */
export function SizePanel({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const steer = useStore(client.steer);
  const sizeInputs = useChartInputs("gomaxprocs");
  const opsInputs = useChartInputs("ops");
  const [sizeEnds] = useState(chartEnds);
  const [opsEnds] = useState(chartEnds);
  const ops = useSelected(client.chart("ops"), stateOf);
  const band = steer?.bands.at(-1) ?? target.steering;
  const title = timelineTitle(target, band?.knob ?? null);
  const signal = band === null ? "" : signalName(band.signal);
  return (
    <Panel
      title={title}
      note="current size"
      controls={client.extent === null ? <PolicyButtons target={target} /> : null}
      className={styles.timeline}
      aria-label={`${title} timeline`}
      data-panel="gomaxprocs"
      table={
        <>
          <ChartTable chart="gomaxprocs" title={title} />
          <ChartTable chart="ops" title="Ops" />
        </>
      }
    >
      <div className={styles.body}>
        <ChartFrame message={null}>
          <TimeChart
            {...sizeInputs}
            ends={sizeEnds}
            theme={colours}
            title={title}
            height={SIZE_PX}
          />
        </ChartFrame>
        <ChartLegend chart="gomaxprocs" theme={colours} ends={sizeEnds} height={SIZE_PX} />
      </div>
      <header className={styles.head}>
        <h3>Ops</h3>
        <span className="note">per second{signal === "" ? "" : `: ${signal}`}</span>
        {band?.proxy ? (
          <span className={styles.proxy}>
            <StatusIcon status="warning" /> proxy signal
          </span>
        ) : null}
      </header>
      <div className={styles.body}>
        <ChartFrame message={opsMessage(ops, target)}>
          <TimeChart {...opsInputs} ends={opsEnds} theme={colours} title="Ops" height={OPS_PX} />
        </ChartFrame>
        <ChartLegend chart="ops" theme={colours} ends={opsEnds} height={OPS_PX} />
      </div>
      <p className={`note ${styles.key}`} aria-hidden="true">
        <span className={styles.moved} /> size changed
        <span className={styles.kept} /> size kept
        <span className={styles.restart} /> search restarted
      </p>
    </Panel>
  );
}

/** Placeholder text, or null if the operations chart is visible. */
function opsMessage(state: ChartView["state"], { steering, programs }: Target): string | null {
  if (state === "ok") {
    return null;
  }
  if (state === "waiting" || steering !== null || (programs ?? []).length > 0) {
    return "Waiting for the first interval…";
  }
  return (
    "Operations are counted while a policy steers, and at any time in a program that has an agent " +
    "or serves figures of its pools."
  );
}
