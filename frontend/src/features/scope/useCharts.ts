import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import { useSelected, useStore } from "../../base/useStore";
import type { LiveClient } from "../../stream/client";
import { useLiveClient } from "../../stream/clients";
import { fieldNamed } from "../../stream/format";
import { timelineTitle } from "../../stream/steerText";
import type { ChartView } from "../../stream/views";
import type { Target } from "../../wire/generated/models";
import type { AbsentPanel } from "../arrange/AbsentPanels";
import { CHARTS, type ChartInfo, chartAbsentReason } from "../charts/panels";

/** Charts that a target has and has not. */
export interface Charts {
  readonly there: readonly ChartInfo[];
  readonly absent: readonly AbsentPanel[];
  /** Sizes have a timeline with operations below, in place of a chart. */
  readonly timeline: boolean;
  readonly timelineTitle: string;
}

export function useCharts(target: Target): Charts {
  const client = useLiveClient();
  const empty = useEmptyCharts(client);
  const steer = useStore(client.steer);
  const steers = target.steering !== null || (target.programs ?? []).length > 0;
  const steered = steer !== null || steers;
  const counted = useOperations(client);
  // Pools report their sizes, whether anything steers them or not.
  const reported = useSelected(client.chart("gomaxprocs"), isThere);
  const knob = (steer?.bands.at(-1) ?? target.steering)?.knob ?? null;
  const charts = useMemo(() => {
    const judged = CHARTS.map((panel) => {
      const reason = chartAbsentReason(panel, target);
      return { panel, reason: reason ?? (empty.has(panel.chart) ? whyEmpty(panel) : null) };
    });
    const sized = judged.some(
      ({ panel, reason }) => panel.chart === "gomaxprocs" && reason === null,
    );
    const timeline = steered || (counted && (sized || reported));
    const others = judged.filter(({ panel }) => !(timeline && panel.chart === "gomaxprocs"));
    return {
      there: others.filter(({ reason }) => reason === null).map(({ panel }) => panel),
      absent: others.flatMap(({ panel: { chart, title }, reason }) =>
        reason === null ? [] : [{ id: chart, title, reason }],
      ),
      timeline,
      timelineTitle: timelineTitle(target, knob),
    };
  }, [target, empty, steered, counted, reported, knob]);
  useWatched(client, charts.absent);
  return charts;
}

/** A chart that is absent is still requested: a thread that has the field may start at any time. */
function useWatched(client: LiveClient, absent: readonly AbsentPanel[]): void {
  useEffect(() => {
    const ids: readonly string[] = absent.map(({ id }) => id);
    const ends = CHARTS.filter(({ chart }) => ids.includes(chart)).map(({ chart }) =>
      client.mountChart(chart, 1, false),
    );
    return () => {
      for (const end of ends) end();
    };
  }, [client, absent]);
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
      const ends = CHARTS.map(({ chart }) => client.chart(chart).subscribe(listener));
      return () => {
        for (const end of ends) end();
      };
    },
    [client],
  );
  // One text, because what is read from a store is compared by value.
  const joined = useSyncExternalStore(subscribe, () =>
    CHARTS.filter(({ chart }) => client.chart(chart).get()?.state === "absent")
      .map(({ chart }) => chart)
      .join(" "),
  );
  return useMemo(() => new Set(joined.split(" ")), [joined]);
}
