import { memo, type ReactNode, useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import { READABLE_MS, useSelected, useStore, useThrottled } from "../../base/useStore";
import { type LiveClient, useLiveClient } from "../../stream/client";
import type { FactViews } from "../../stream/factViews";
import { fieldNamed } from "../../stream/format";
import { timelineTitle } from "../../stream/steerView";
import type { ChartView, TileView } from "../../stream/views";
import type { Target } from "../../wire/generated/models";
import {
  type AbsentPanel,
  AbsentPanels,
  ArrangedPanels,
  type PanelSpec,
} from "../arrange/ArrangedPanels";
import { CallsPanel } from "../calls/CallsPanel";
import { ChartPanel } from "../charts/ChartPanel";
import { CHARTS, type ChartInfo, chartAbsentReason } from "../charts/panels";
import { EventList } from "../events/EventList";
import { GoroutinesPanel } from "../goroutines/GoroutinesPanel";
import { MapPanel } from "../map/MapPanel";
import { PoolsPanel } from "../pools/PoolsPanel";
import { ProcessesPanel } from "../processes/ProcessesPanel";
import { StacksPanel } from "../stacks/StacksPanel";
import { PolicyButtons } from "../steering/PolicyButtons";
import { SizePanel } from "../steering/SizePanel";
import { ThreadTable } from "../threads/ThreadTable";
import { TimesPanel } from "../times/TimesPanel";
import { WaitingPanel } from "../waiting/WaitingPanel";
import { WakesPanel } from "../wakes/WakesPanel";

const NO_CALLS =
  "Counting system calls is switched off: it costs more than the rest of the ledger. " +
  "tidscope up --calls switches it on.";

interface ScopePanelsProps {
  readonly target: Target;
  /** Division of cores among programs; null without an arbiter. */
  readonly cores: ReactNode;
}

/** All panels available for this target, and one line naming unavailable ones. */
export const ScopePanels = memo(function ScopePanels({ target, cores }: ScopePanelsProps) {
  const client = useLiveClient();
  const charts = useCharts(target);
  const pools = usePools(client);
  const { ledger, ledger_reason, calls = false } = target.source;
  const grouped = target.group != null;
  const goroutines = useHasGoroutines(client, grouped) || target.process.runtime === "go";
  const live = client.extent === null;
  const panels = useMemo<readonly PanelSpec[]>(
    () => [
      {
        id: "map",
        title: "Thread map",
        wide: "narrow",
        growable: true,
        body: <MapPanel target={target} />,
      },
      ...when(grouped, {
        id: "processes",
        title: "Processes",
        wide: true,
        body: <ProcessesPanel target={target} />,
      }),
      ...charts.there.map((chart) => ({
        id: chart.chart,
        title: chart.title,
        growable: true,
        body: (
          <ChartPanel
            panel={chart}
            controls={
              chart.chart === "gomaxprocs" && live ? <PolicyButtons target={target} /> : null
            }
          />
        ),
      })),
      ...when(charts.timeline, {
        id: "gomaxprocs",
        title: charts.timelineTitle,
        wide: true,
        body: <SizePanel target={target} />,
      }),
      ...when(cores !== null, { id: "cores", title: "Cores", wide: true, body: cores }),
      { id: "times", title: "Where the time goes", wide: "narrow", body: <TimesPanel /> },
      ...when(pools?.state === "ok", {
        id: "pools",
        title: "Pools",
        wide: true,
        body: <PoolsPanel />,
      }),
      ...when(ledger ?? false, {
        id: "wakes",
        title: "Who wakes whom",
        wide: true,
        body: <WakesPanel />,
      }),
      ...when(ledger ?? false, {
        id: "waiting",
        title: "Waiting on",
        wide: true,
        body: <WaitingPanel />,
      }),
      ...when(goroutines, {
        id: "goroutines",
        title: "Goroutines",
        wide: true,
        body: <GoroutinesPanel />,
      }),
      ...when(ledger ?? false, {
        id: "stacks",
        title: "Stacks",
        wide: true,
        body: <StacksPanel target={target} />,
      }),
      ...when((ledger ?? false) && calls, {
        id: "calls",
        title: "System calls",
        wide: true,
        body: <CallsPanel />,
      }),
      { id: "events", title: "Events", body: <EventList /> },
      { id: "threads", title: "Threads", wide: true, body: <ThreadTable target={target} /> },
    ],
    [target, live, grouped, charts, cores, pools?.state, ledger, goroutines, calls],
  );
  const power = useSelected(client.tiles, powerReason);
  const absent: AbsentPanel[] = [
    ...charts.absent,
    ...lacks(pools?.state === "absent", "pools", "Pools", `${pools?.reason ?? ""}.`),
    ...lacks(
      !ledger,
      "ledger",
      "Wake-ups, locks, stacks, system calls",
      ledger_reason ?? "This target has no ledger of states.",
    ),
    ...lacks((ledger ?? false) && !calls, "calls", "System calls", NO_CALLS),
    ...lacks(power !== "", "power", "Power", power),
  ];
  return (
    <>
      <ArrangedPanels panels={panels} />
      <AbsentPanels panels={absent} />
    </>
  );
});

function when(there: boolean, each: PanelSpec): readonly PanelSpec[] {
  return there ? [each] : [];
}

function lacks(absent: boolean, id: string, title: string, reason: string): readonly AbsentPanel[] {
  return absent ? [{ id, title, reason }] : [];
}

/** Whether a group has a Go program, whether its goroutines are known or not. */
function useHasGoroutines(client: LiveClient, grouped: boolean): boolean {
  useEffect(() => (grouped ? client.mountFacts("goroutines") : undefined), [client, grouped]);
  return useSelected(client.facts.goroutines, isThereGo);
}

function isThereGo(view: FactViews["goroutines"] | null): boolean {
  return view !== null && view.state !== "absent";
}

/** Pools appear when an agent reports the first. */
function usePools(client: LiveClient): FactViews["pools"] | null {
  useEffect(() => client.mountFacts("pools"), [client]);
  return useThrottled(client.facts.pools, READABLE_MS);
}

function powerReason(tiles: readonly TileView[] | null): string {
  const tile = tiles?.find(({ id }) => id === "power");
  return tile?.state === "absent" ? tile.reason : "";
}

/** Available and unavailable charts of a target. */
interface Charts {
  readonly there: readonly ChartInfo[];
  readonly absent: readonly AbsentPanel[];
  /** Sizes have a timeline with operations below, in place of a chart. */
  readonly timeline: boolean;
  readonly timelineTitle: string;
}

function useCharts(target: Target): Charts {
  const client = useLiveClient();
  const empty = useEmptyCharts(client);
  const steer = useStore(client.steer);
  const steers = target.steering !== null || (target.programs ?? []).length > 0;
  const steered = steer !== null || steers;
  const counted = useOperations(client);
  // Pools report sizes with or without steering.
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

/** Watch absent charts: a thread with the field may start at any time. */
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

/** Whether operations are known, from a policy or from pools. */
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
  // A single string, because store values are compared by value.
  const joined = useSyncExternalStore(subscribe, () =>
    CHARTS.filter(({ chart }) => client.chart(chart).get()?.state === "absent")
      .map(({ chart }) => chart)
      .join(" "),
  );
  return useMemo(() => new Set(joined.split(" ")), [joined]);
}
