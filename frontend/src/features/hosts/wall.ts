/** The wall: which tiles there are, in which order, and where. Pure. */

import type { FleetHost, FleetHosts } from "../../wire/generated/models";
import { type Searched, searchOf } from "./hostSearch";
import { unusualHosts } from "./unusual";

/** A host, or the hosts of a label's value. */
export interface Tile {
  readonly key: string;
  readonly name: string;
  /** Hosts of a group; one for a host. */
  readonly hosts: readonly FleetHost[];
  /** Threads on average by nature. */
  readonly states: readonly number[];
  readonly cores: Float32Array;
  readonly score: number;
  readonly why: string;
}

/** Hosts above which the wall is grouped, unless asked for otherwise. */
export const GROUPED_FROM = 500;
/** Values that a label may have to group by. */
const MAX_GROUPS = 400;
/** Group by the name without its number. */
export const BY_NAME = "host";

/** Searchable texts of hosts. */
export function searchedOf(fleet: FleetHosts): readonly Searched[] {
  return fleet.hosts.map(({ name, labels, roles }) => {
    const found = roles.map((place) => fleet.roles[place]);
    return {
      name,
      labels,
      programs: [...new Set(found.map((one) => one?.program ?? ""))],
      roles: found.map((one) => one?.role ?? ""),
    };
  });
}

/** Labels that can group the hosts, those of most hosts first. */
export function groupingLabels({ hosts }: FleetHosts): readonly string[] {
  const values = new Map<string, Set<string>>();
  const counts = new Map<string, number>();
  for (const { labels } of hosts) {
    for (const [key, value] of Object.entries(labels)) {
      const known = values.get(key) ?? new Set();
      known.add(value);
      values.set(key, known);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...values]
    .filter(([, known]) => known.size <= MAX_GROUPS)
    .map(([key]) => key)
    .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || a.localeCompare(b));
}

/** The label that groups a wall: as asked for, or for many hosts the best one. */
export function groupOf(fleet: FleetHosts, asked: string | null, found: number): string {
  if (asked !== null) return asked;
  if (found <= GROUPED_FROM) return "";
  const several = groupingLabels(fleet).filter(
    (key) => new Set(fleet.hosts.map(({ labels }) => labels[key])).size > 1,
  );
  return several[0] ?? BY_NAME;
}

/** Name of a host without its number: "db-17" is a "db-#". */
export function nameWithoutNumber(name: string): string {
  return name.replace(/[0-9]+/g, "#");
}

/** Tiles of the hosts that a search finds, the most unusual first. */
export function tilesOf(fleet: FleetHosts, search: string, group: string | null) {
  const searched = searchedOf(fleet);
  const fits = searchOf(search);
  const unusual = unusualHosts(fleet.hosts);
  const tiles = fleet.hosts.flatMap((host, at): Tile[] => {
    const text = searched[at];
    if (text === undefined || !fits(text)) return [];
    return [
      {
        key: host.host,
        name: host.name,
        hosts: [host],
        states: host.states,
        cores: Float32Array.from(host.cores, (one) => one ?? Number.NaN),
        score: unusual[at]?.score ?? 0,
        why: unusual[at]?.why ?? "",
      },
    ];
  });
  const by = groupOf(fleet, group, tiles.length);
  const shown = by === "" ? tiles : grouped(tiles, by);
  return { tiles: [...shown].sort(byScore), found: tiles.length, group: by };
}

/** The farthest from usual first; usual ones by use of CPU. */
function byScore(a: Tile, b: Tile): number {
  const unusual = Number(b.why !== "") - Number(a.why !== "");
  if (unusual !== 0) return unusual;
  if (a.why !== "") return b.score - a.score || a.name.localeCompare(b.name);
  return (b.states[0] ?? -1) - (a.states[0] ?? -1) || a.name.localeCompare(b.name);
}

function grouped(tiles: readonly Tile[], by: string): readonly Tile[] {
  const groups = new Map<string, Tile[]>();
  for (const tile of tiles) {
    const host = tile.hosts[0];
    const value =
      by === BY_NAME ? nameWithoutNumber(tile.name) : (host?.labels[by] ?? `without ${by}`);
    const members = groups.get(value) ?? [];
    members.push(tile);
    groups.set(value, members);
  }
  return [...groups].map(([name, members]) => {
    const worst = members.reduce((most, one) => (one.score > most.score ? one : most));
    const odd = members.filter(({ why }) => why !== "").length;
    return {
      key: `group ${name}`,
      name,
      hosts: members.flatMap(({ hosts }) => hosts),
      states: sums(members.map(({ states }) => states)),
      cores: sumOfCurves(members.map(({ cores }) => cores)),
      score: worst.score,
      why: odd === 0 ? "" : `${odd} unusual; ${worst.name}: ${worst.why}`,
    };
  });
}

function sums(rows: readonly (readonly number[])[]): readonly number[] {
  const made = [0, 0, 0, 0, 0];
  for (const row of rows)
    row.forEach((one, at) => {
      made[at] = (made[at] ?? 0) + one;
    });
  return made;
}

function sumOfCurves(curves: readonly Float32Array[]): Float32Array {
  const made = new Float32Array(Math.max(0, ...curves.map(({ length }) => length))).fill(
    Number.NaN,
  );
  for (const curve of curves) {
    curve.forEach((value, at) => {
      if (Number.isFinite(value))
        made[at] = (Number.isFinite(made[at]) ? (made[at] ?? 0) : 0) + value;
    });
  }
  return made;
}

/** Places of tiles: a grid of equal cells. */
export interface Grid {
  readonly columns: number;
  readonly width: number;
  readonly height: number;
  /** Whether a tile has its name; the smallest have only bar and line. */
  readonly named: boolean;
}

const GAP = 4;
const SIZES = [
  { upTo: 120, width: 196, height: 58, named: true },
  { upTo: 1500, width: 128, height: 46, named: true },
  { upTo: Number.POSITIVE_INFINITY, width: 44, height: 22, named: false },
] as const;

export function gridOf(count: number, width: number): Grid {
  const { width: wide, height, named } = SIZES.find(({ upTo }) => count <= upTo) ?? SIZES[2];
  const columns = Math.max(1, Math.floor((width + GAP) / (wide + GAP)));
  return { columns, width: (width + GAP) / columns, height: height + GAP, named };
}

export function gridHeight(grid: Grid, count: number): number {
  return Math.ceil(count / grid.columns) * grid.height;
}

/** Index of the tile at a point of the wall, or null. */
export function tileAt(grid: Grid, count: number, x: number, y: number): number | null {
  const column = Math.floor(x / grid.width);
  const at = Math.floor(y / grid.height) * grid.columns + column;
  return x >= 0 && y >= 0 && column < grid.columns && at < count ? at : null;
}

/** Index after a key; null if the key does not move. */
export function moved(at: number | null, key: string, grid: Grid, count: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -grid.columns,
    ArrowDown: grid.columns,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  };
  const step = steps[key];
  if (step === undefined || count === 0) return null;
  if (at === null) return 0;
  if (Math.abs(step) > 1 && Number.isFinite(step) && (at + step < 0 || at + step >= count))
    return at;
  return Math.min(Math.max(at + step, 0), count - 1);
}

/** First and last index of the tiles in a stretch of the wall. */
export function inView(grid: Grid, count: number, top: number, height: number) {
  const first = Math.floor(top / grid.height) * grid.columns;
  const last = (Math.floor((top + height) / grid.height) + 1) * grid.columns;
  return { first: Math.max(0, first), last: Math.min(count, last) };
}
