import { memo, type ReactNode, useEffect, useMemo } from "react";
import { READABLE_MS, useSelected, useThrottled } from "../../base/useStore";
import type { LiveClient } from "../../stream/client";
import { useLiveClient } from "../../stream/clients";
import type { FactViews } from "../../stream/factViews";
import type { TileView } from "../../stream/views";
import type { Target } from "../../wire/generated/models";
import { type AbsentPanel, AbsentPanels } from "../arrange/AbsentPanels";
import { ArrangedPanels, type PanelSpec } from "../arrange/ArrangedPanels";
import { CallsPanel } from "../calls/CallsPanel";
import { ChartPanel } from "../charts/ChartPanel";
import { EventList } from "../events/EventList";
import { LocksPanel } from "../locks/LocksPanel";
import { MapPanel } from "../map/MapPanel";
import { PoolsPanel } from "../pools/PoolsPanel";
import { ProcessesPanel } from "../processes/ProcessesPanel";
import { PolicyButtons } from "../steering/PolicyButtons";
import { SizePanel } from "../steering/SizePanel";
import { TakersPanel } from "../takers/TakersPanel";
import { ThreadTable } from "../threads/ThreadTable";
import { TimesPanel } from "../times/TimesPanel";
import { WakesPanel } from "../wakes/WakesPanel";
import { useCharts } from "./useCharts";

const NO_CALLS =
  "Counting system calls is switched off: it costs more than the rest of the ledger. " +
  "tidscope up --calls switches it on.";

interface ScopePanelsProps {
  readonly target: Target;
  /** Who got how many cores; null where nobody divides them. */
  readonly cores: ReactNode;
}

/** All panels that this target can have, and one line on those that it cannot have. */
export const ScopePanels = memo(function ScopePanels({ target, cores }: ScopePanelsProps) {
  const client = useLiveClient();
  const charts = useCharts(target);
  const pools = usePools(client);
  const { ledger, ledger_reason, calls = false } = target.source;
  const grouped = target.group != null;
  const live = client.extent === null;
  const panels = useMemo<readonly PanelSpec[]>(
    () => [
      {
        id: "map",
        title: "Thread map",
        wide: true,
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
      { id: "times", title: "Where the time goes", wide: true, body: <TimesPanel /> },
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
      ...when(ledger ?? false, { id: "locks", title: "Locks", wide: true, body: <LocksPanel /> }),
      ...when(ledger ?? false, {
        id: "takers",
        title: "Who takes the CPU",
        wide: true,
        body: <TakersPanel />,
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
    [target, live, grouped, charts, cores, pools?.state, ledger, calls],
  );
  const power = useSelected(client.tiles, powerReason);
  const absent: AbsentPanel[] = [
    ...charts.absent,
    ...lacks(pools?.state === "absent", "pools", "Pools", `${pools?.reason ?? ""}.`),
    ...lacks(
      !ledger,
      "ledger",
      "Wake-ups, locks, system calls",
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

/** Pools appear when an agent reports the first. */
function usePools(client: LiveClient): FactViews["pools"] | null {
  useEffect(() => client.mountFacts("pools"), [client]);
  return useThrottled(client.facts.pools, READABLE_MS);
}

function powerReason(tiles: readonly TileView[] | null): string {
  const tile = tiles?.find(({ id }) => id === "power");
  return tile?.state === "absent" ? tile.reason : "";
}
