import { useMemo, useState } from "react";
import { liveHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { counted, formatValue } from "../../stream/format";
import { Button, Select } from "../../ui/Controls";
import { EmptyState } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { FleetHost, FleetHosts } from "../../wire/generated/models";
import styles from "./Hosts.module.css";
import { isLive } from "./link";
import { PastHost } from "./PastHost";
import { natureColours } from "./paintWall";
import type { PartProps } from "./props";
import { BAR_NATURES, sharesOf } from "./unusual";
import { Wall } from "./Wall";
import { BY_NAME, groupingLabels, type Tile, tilesOf } from "./wall";

/** Natures of a bar, for the legend. */
const NAMES = ["running", "wants a CPU", "blocked", "idle", "unknown"] as const;

/** Address of what a tile opens: threads of a connected host, or totals of another one. */
export function tileHref(tile: Tile): string | null {
  const [host] = tile.hosts;
  if (tile.hosts.length !== 1 || host === undefined || !host.connected) return null;
  const [target] = host.targets;
  return target !== undefined && host.targets.length === 1
    ? liveHref(target)
    : `/?host=${host.host}`;
}

/** The wall of hosts. */
export function WallPanel({ fleet, link, onLink }: PartProps & { readonly fleet: FleetHosts }) {
  const dark = useStore(theme) === "dark";
  const { tiles, found, group } = useMemo(
    () => tilesOf(fleet, link.search, link.group),
    [fleet, link.search, link.group],
  );
  const [past, setPast] = useState<FleetHost | null>(null);
  const totals = (name: string) => onLink({ view: "across", search: `host=${name}` });
  const open = (tile: Tile) => {
    const href = tileHref(tile);
    if (href !== null && !isLive(link)) {
      setPast(tile.hosts[0] ?? null);
    } else if (href !== null) {
      navigate(href);
    } else if (tile.hosts.length > 1) {
      const narrower =
        group === BY_NAME ? `host=${tile.name.split("#")[0] ?? ""}*` : `${group}=${tile.name}`;
      onLink({ search: `${link.search} ${narrower}`.trim(), group: "" });
    } else {
      totals(tile.name);
    }
  };
  const odd = tiles.filter(({ why }) => why !== "").length;
  const colours = natureColours(dark);
  return (
    <Panel
      title="Hosts"
      note={`${found} of ${counted(fleet.hosts.length, "host")}${odd === 0 ? "" : `, ${odd} unusual`}`}
      controls={
        <Select
          label="Group by"
          value={group}
          choices={[
            { value: "", label: "nothing" },
            { value: BY_NAME, label: "name without number" },
            ...groupingLabels(fleet).map((value) => ({ value, label: value })),
          ]}
          onChange={(next) => onLink({ group: next })}
        />
      }
      table={<HostTable tiles={tiles} onOpen={open} />}
    >
      <div className={styles.body}>
        <ul className={styles.legend} aria-label="Colours of the bars">
          {NAMES.map((name, at) => (
            <li key={name}>
              <span className={styles.swatch} style={{ background: colours[at] }} />
              {name}
            </li>
          ))}
          <li>line: CPU cores, each to its own scale</li>
        </ul>
        {tiles.length === 0 ? (
          <EmptyState title="No host matches">
            <p>
              Words are parts of names and labels; <code>region=eu</code>,{" "}
              <code>role=worker-#</code> and <code>program=server</code> are exact,{" "}
              <code>-canary=true</code> excludes.
            </p>
            <Button onClick={() => onLink({ search: "" })}>Show all</Button>
          </EmptyState>
        ) : (
          <Wall tiles={tiles} onOpen={open} />
        )}
        {past === null || link.since_ms === null || link.until_ms === null ? null : (
          <PastHost
            host={past}
            since_ms={link.since_ms}
            until_ms={link.until_ms}
            onTotals={() => totals(past.name)}
            onClose={() => setPast(null)}
          />
        )}
      </div>
    </Panel>
  );
}

const share = (tile: Tile, at: number) => sharesOf(tile.states)?.[at] ?? Number.NaN;
const COLUMNS: readonly SortedColumn<Tile>[] = [
  {
    id: "name",
    label: "Host",
    text: true,
    value: ({ name }) => name,
    cell: ({ name }) => name,
    width: 12,
  },
  ...BAR_NATURES.map(
    (nature, at): SortedColumn<Tile> => ({
      id: nature,
      label: NAMES[at] ?? nature,
      value: (tile) => share(tile, at),
      cell: (tile) =>
        Number.isFinite(share(tile, at)) ? formatValue(share(tile, at), "share") : "",
      width: 6,
    }),
  ),
  {
    id: "score",
    label: "Unusual",
    tip: "Distance from the median host, in usual spreads; from 5 on it is said why.",
    value: ({ score }) => score,
    cell: ({ score }) => score.toFixed(1),
    width: 6,
  },
  {
    id: "why",
    label: "Why",
    text: true,
    value: ({ why }) => why,
    cell: ({ why }) => why,
    width: 24,
  },
];

function HostTable({
  tiles,
  onOpen,
}: {
  readonly tiles: readonly Tile[];
  readonly onOpen: (tile: Tile) => void;
}) {
  return (
    <SortedTable
      label="Hosts as a table"
      columns={COLUMNS}
      rows={tiles}
      keyOf={({ key }) => key}
      sortedBy="score"
      onPress={onOpen}
    />
  );
}
