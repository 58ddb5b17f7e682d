import { memo, useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import { useSelected, useStore } from "../../../base/useStore";
import type { LiveClient } from "../../../model/client";
import { fieldNamed } from "../../../model/format";
import type { ChartView } from "../../../model/views";
import type { Target } from "../../../wire/generated/models";
import { useLiveClient } from "../../clients";
import styles from "./ChartGrid.module.css";
import { ChartPanel } from "./ChartPanel";
import { EventList } from "./EventList";
import { type ChartInfo, chartAbsentReason, PANELS } from "./panels";
import { SizePanel } from "./SizePanel";
import { TimesPanel } from "./times/TimesPanel";

/** The charts of CPU stand above where the time goes. */
const ABOVE_TIMES = 2;

/** All charts that this target can have, what happened, and a quiet word on charts it cannot have. */
export const ChartGrid = memo(function ChartGrid({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const empty = useEmptyCharts(client);
  const judged = PANELS.map((panel) => {
    const reason = chartAbsentReason(panel, target);
    return { panel, reason: reason ?? (empty.has(panel.chart) ? whyEmpty(panel) : null) };
  });
  const steers = target.steering !== null || (target.programs ?? []).length > 0;
  const steered = useStore(client.steer) !== null || steers;
  const counted = useOperations(client);
  const sized = judged.some(({ panel, reason }) => panel.chart === "gomaxprocs" && reason === null);
  const timeline = steered || (counted && sized);
  const others = judged.filter(({ panel }) => !(timeline && panel.chart === "gomaxprocs"));
  const there = others.filter(({ reason }) => reason === null).map(({ panel }) => panel);
  const panels = (some: readonly ChartInfo[]) =>
    some.map((panel) => (
      <ChartPanel key={panel.chart} panel={panel} group={target.group != null} />
    ));
  return (
    <>
      {timeline ? <SizePanel target={target} /> : null}
      <div className={styles.grid}>{panels(there.slice(0, ABOVE_TIMES))}</div>
      <TimesPanel />
      <div className={styles.grid}>
        {panels(there.slice(ABOVE_TIMES))}
        <EventList />
      </div>
      <dl className={styles.absent} aria-label="Not available for this target">
        {others.map(({ panel, reason }) =>
          reason === null ? null : <AbsentPanel key={panel.chart} panel={panel} reason={reason} />,
        )}
      </dl>
    </>
  );
});

interface AbsentPanelProps {
  readonly panel: ChartInfo;
  readonly reason: string;
}

function AbsentPanel({ panel, reason }: AbsentPanelProps) {
  const client = useLiveClient();
  // Its view is still requested: a thread that has the field may start at any time.
  useEffect(() => client.mountChart(panel.chart, 1, false), [client, panel.chart]);
  return (
    <div data-absent={panel.chart}>
      <dt>{panel.title}</dt>
      <dd>{reason}</dd>
    </div>
  );
}

/** Whether operations are known, by a policy or without one. */
function useOperations(client: LiveClient): boolean {
  useEffect(() => client.mountChart("ops", 1, false), [client]);
  return useSelected(client.chart("ops"), isThere);
}

function isThere(view: ChartView | null): boolean {
  return view?.state === "ok";
}

function whyEmpty(panel: ChartInfo): string {
  const meaning = fieldNamed(panel.fields[0] ?? "")?.meaning ?? "";
  return `No thread of this target has a value. ${meaning}`;
}

/** Charts for whose fields no thread has a value. */
function useEmptyCharts(client: LiveClient): ReadonlySet<string> {
  const subscribe = useCallback(
    (listener: () => void) => {
      const ends = PANELS.map(({ chart }) => client.chart(chart).subscribe(listener));
      return () => {
        for (const end of ends) {
          end();
        }
      };
    },
    [client],
  );
  // One text, because what is read from a store is compared by value.
  const joined = useSyncExternalStore(subscribe, () =>
    PANELS.filter(({ chart }) => client.chart(chart).get()?.state === "absent")
      .map(({ chart }) => chart)
      .join(" "),
  );
  return useMemo(() => new Set(joined.split(" ")), [joined]);
}
