/** Feature `wakes`: the worker's view of wake-ups in, a graph and a table out. */

import { useRef, useState } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { SmallMarker } from "../../chart/Marker";
import { CHART_THEMES, type ChartTheme, colourStyle } from "../../chart/palette";
import { useResize } from "../../chart/useResize";
import { type LiveClient, useLiveClient } from "../../stream/client";
import { PARTY_WORDS } from "../../stream/facts/parties";
import { nameAndPlace } from "../../stream/facts/places";
import { counted, formatDuration } from "../../stream/format";
import type { ThreadKey } from "../../stream/viewRequest";
import type { WakeEdge, WakeNode, WakesView } from "../../stream/wakes";
import { Button, SegmentedControl } from "../../ui/Controls";
import { Middle } from "../../ui/Middle";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import {
  FactMessage,
  meanColumn,
  rateColumn,
  textColumn,
  threadsColumn,
  useFacts,
} from "../facts/FactColumns";
import styles from "../facts/facts.module.css";
import { type EdgeMetric, edgeValue, WakeGraph } from "./WakeGraph";

const HEIGHT_PX = 440;
const NARROW_PX = 520;
const NARROW_HEIGHT_PX = 480;
/** Maximum number of table rows; further ones are rare. */
const MAX_ROWS = 100;
const keyOf = (edge: WakeEdge) => edge.key;

/** Wake-ups between roles, as a graph and as a table. */
export function WakesPanel() {
  const client = useLiveClient();
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("wakes", place);
  const colours = CHART_THEMES[useStore(theme)];
  const { selected } = useStore(client.view);
  const [metric, setMetric] = useState<EdgeMetric>("wakes");
  const [outside, setOutside] = useState<string | null>(null);
  const [pointed, setPointed] = useState<string | null>(null);
  const narrow = useResize(place) < NARROW_PX;
  const chosen = outside ?? (view?.nodes.some(({ key }) => key === selected) ? selected : null);
  const onSelect = (node: WakeNode) => {
    if (node.kind === "role" && node.colour !== null) {
      setOutside(null);
      selectRole(client, node.key);
    } else {
      selectRole(client, null);
      setOutside(node.key === outside ? null : node.key);
    }
  };
  const showAll = () => {
    setOutside(null);
    selectRole(client, null);
  };
  const name = view?.nodes.find(({ key }) => key === chosen)?.name;
  return (
    <Panel
      title="Who wakes whom"
      note={
        name === undefined ? (
          noteOf(view)
        ) : (
          <span className={styles.scope}>
            of <strong>{name}</strong> <Button onClick={showAll}>Show all</Button>
          </span>
        )
      }
      data-panel="wakes"
      controls={
        <SegmentedControl
          label="Width of edges"
          value={metric}
          choices={[
            { value: "wakes", label: "Wake-ups" },
            { value: "blocked", label: "Time waited" },
          ]}
          onChange={setMetric}
        />
      }
    >
      <div ref={place} className={styles.wakes} data-state={view?.state ?? "waiting"}>
        {view?.state === "ok" ? (
          <>
            <WakeGraph
              view={view}
              theme={colours}
              metric={metric}
              height={narrow ? NARROW_HEIGHT_PX : HEIGHT_PX}
              selected={chosen}
              pointed={pointed}
              onSelect={onSelect}
            />
            <EdgeTable
              key={metric}
              view={view}
              theme={colours}
              metric={metric}
              chosen={chosen}
              onPoint={(edge) => setPointed(edge?.key ?? null)}
              onPress={(edge) => {
                const node = view.nodes.find(({ key }) => key === edge.from);
                if (node) onSelect(node);
              }}
            />
          </>
        ) : (
          <FactMessage view={view} />
        )}
      </div>
    </Panel>
  );
}

function noteOf(view: WakesView | null): string {
  if (view?.state !== "ok") {
    return "wake-ups from role to role";
  }
  const omitted = view.omitted > 0 ? `; ${counted(view.omitted, "pair")} left out` : "";
  return `wake-ups from role to role, mean over ${formatDuration(view.seconds)}${omitted}`;
}

interface EdgeTableProps {
  readonly view: WakesView;
  readonly theme: ChartTheme;
  readonly metric: EdgeMetric;
  readonly chosen: string | null;
  readonly onPoint: (edge: WakeEdge | null) => void;
  readonly onPress: (edge: WakeEdge) => void;
}

function EdgeTable({ view, theme: colours, metric, chosen, onPoint, onPress }: EdgeTableProps) {
  const nodes = new Map(view.nodes.map((node) => [node.key, node]));
  const nameOf = (key: string) => nodes.get(key)?.name ?? "";
  const rows = [...view.edges]
    .filter(({ from, to }) => chosen === null || from === chosen || to === chosen)
    .sort((a, b) => edgeValue(b, metric) - edgeValue(a, metric))
    .slice(0, MAX_ROWS);
  const columns: readonly SortedColumn<WakeEdge>[] = [
    textColumn("from", "Waker", ({ from }) => nameOf(from), {
      cell: ({ from }) => <Party node={nodes.get(from)} theme={colours} />,
    }),
    textColumn("to", "Woken", ({ to }) => nameOf(to), {
      width: 9.5,
      cell: ({ to }) => <Party node={nodes.get(to)} theme={colours} />,
    }),
    rateColumn("wakes", "Wake-ups", ({ per_s }) => per_s, {
      tip: "How often the left one ended a wait of the right one.",
    }),
    threadsColumn(
      "blocked",
      "Waited",
      ({ blocked }) => blocked,
      "Thread-seconds a second of the waits that these wake-ups ended.",
    ),
    meanColumn("mean", ({ blocked_s }) => blocked_s, {
      ...{ under: "wait", tip: "Mean length of a wait that a wake-up ended." },
    }),
    meanColumn("delay", ({ delay_s }) => delay_s, {
      ...{ label: "Until it ran", width: 6.25 },
      tip: "From the wake-up until the woken thread was on a CPU.",
    }),
  ];
  return (
    <SortedTable
      label="Wake-ups"
      columns={columns}
      rows={rows}
      keyOf={keyOf}
      sortedBy={metric}
      first={9.5}
      pressed={({ from }) => from === chosen}
      onPress={onPress}
      onPoint={onPoint}
      none="No thread of this process was woken."
    />
  );
}

function Party({ node, theme: colours }: { node: WakeNode | undefined; theme: ChartTheme }) {
  if (node === undefined) {
    return null;
  }
  return (
    <span
      className={styles.name}
      title={[`${nameAndPlace(node)}: ${PARTY_WORDS[node.kind]}`, node.detail].join("\n").trim()}
    >
      {node.colour === null ? null : <SmallMarker style={colourStyle(node.colour, colours)} />}
      {node.kind === "role" ? <Middle text={node.name} /> : <em>{node.name}</em>}
    </span>
  );
}

const PREFIX = "role:";

/** Filter matching only the threads of a role. */
function roleFilter(role: string): string {
  return `^${role.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`;
}

/** Select a role everywhere, and list only its threads; null or the selected role resets both. */
function selectRole(client: LiveClient, key: ThreadKey | null): void {
  const { selected, filter } = client.view.get();
  const before = selected?.startsWith(PREFIX) ? roleFilter(selected.slice(PREFIX.length)) : null;
  const same = key === selected;
  const role = key === null || same ? null : key.slice(PREFIX.length);
  const left = filter === before ? "" : filter;
  client.request({
    selected: role === null ? null : key,
    filter: role === null ? left : roleFilter(role),
  });
}
