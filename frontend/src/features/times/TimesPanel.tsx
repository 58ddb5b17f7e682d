import { useEffect, useRef, useState } from "react";
import { foldIdle, idleFolded } from "../../base/idleFold";
import { theme } from "../../base/theme";
import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import type { ChartTheme } from "../../chart/palette";
import { TimeChart } from "../../chart/TimeChart";
import { useVisibility } from "../../chart/useVisibility";
import { useLiveClient } from "../../stream/clients";
import { counted, formatValue } from "../../stream/format";
import type { ChartView, TimesView } from "../../stream/views";
import { Button } from "../../ui/Button";
import { Checkbox } from "../../ui/Checkbox";
import { Panel } from "../../ui/Panel";
import { ChartFrame } from "../charts/ChartFrame";
import { ChartTable } from "../charts/ChartTable";
import { useChartInputs } from "../charts/useChartInputs";
import { PartList } from "./PartList";
import { RoleBar } from "./RoleBar";
import styles from "./TimesPanel.module.css";

const TITLE = "Where the time goes";
const HEIGHT_PX = 220;
/** Roles shown at first. */
const FEW = 6;

/** What threads did with their time: stacked shares over time, and a bar a role. */
export function TimesPanel() {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const inputs = useChartInputs("times");
  const view = useThrottled(client.chart("times"), READABLE_MS);
  const times = view?.state === "ok" ? view.times : undefined;
  const folded = useStore(idleFolded);
  useEffect(() => client.request({ fold_idle: folded }), [client, folded]);
  return (
    <Panel
      title={TITLE}
      note={folded && times?.ledger ? "share of the time that is not idle" : "share of thread time"}
      controls={times === undefined ? null : <Controls times={times} folded={folded} />}
      data-panel="times"
      table={<ChartTable chart="times" title={TITLE} />}
    >
      <div className={styles.body}>
        <ChartFrame message={times === undefined ? emptyText(view) : null}>
          <TimeChart {...inputs} theme={colours} title={TITLE} height={HEIGHT_PX} />
        </ChartFrame>
        {times === undefined ? <div /> : <PartList times={times} theme={colours} />}
      </div>
      {times === undefined ? null : <Roles times={times} theme={colours} />}
    </Panel>
  );
}

function emptyText(view: ChartView | null): string {
  return view?.state === "absent" ? view.reason : "Not enough samples.";
}

interface ControlsProps {
  readonly times: TimesView;
  readonly folded: boolean;
}

/** What the chart is of, and whether idle time is in it. */
function Controls({ times, folded }: ControlsProps) {
  const { ledger, whole } = times;
  return (
    <>
      <Scope times={times} />
      {ledger ? (
        <span className={styles.fold}>
          <span className={`note ${styles.folded}`}>
            {folded ? `${formatValue(whole.folded_s, "s")} of idle time folded away` : ""}
          </span>
          <Checkbox label="Fold idle time away" checked={folded} onChange={foldIdle} />
        </span>
      ) : null}
    </>
  );
}

/** What the chart is of, and the way back to all. */
function Scope({ times }: { readonly times: TimesView }) {
  const client = useLiveClient();
  return (
    <span className={`note ${styles.scope}`} data-scope={times.scope}>
      of <strong>{times.name}</strong>
      {times.scope === "process" ? null : (
        <Button onClick={() => client.select(null)}>Show all</Button>
      )}
    </span>
  );
}

function Roles({ times, theme: colours }: { times: TimesView; theme: ChartTheme }) {
  const client = useLiveClient();
  const place = useRef<HTMLDivElement>(null);
  const [all, setAll] = useState(false);
  // The bars are of the chart's view, and can be seen when the chart above them cannot.
  const inView = useVisibility(place);
  useEffect(() => client.mountChart("times", 1, inView), [client, inView]);
  const selected = useStore(client.view).selected;
  const shown = all ? times.roles : times.roles.slice(0, FEW);
  const more = times.roles.length - FEW;
  return (
    <div ref={place} className={styles.roles}>
      <ul aria-label="By role">
        {shown.map((row) => (
          <RoleBar
            key={row.key}
            row={row}
            theme={colours}
            selected={row.key === selected}
            onSelect={client.select}
          />
        ))}
      </ul>
      {more > 0 ? (
        <Button onClick={() => setAll(!all)}>
          {all ? "Fewer roles" : counted(more, "more role")}
        </Button>
      ) : null}
    </div>
  );
}
