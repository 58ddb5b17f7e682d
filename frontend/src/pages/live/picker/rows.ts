/** Rows of the picker: processes, or what they are part of with the processes below it. Pure. */

import type { GroupSelector, Process } from "../../../wire/generated/models";
import { matchesSearch } from "./search";

/** What processes are listed under. */
export type Grouping = "none" | "tree" | "container" | "unit";

/** Figures of a row: of a process, or of all below the row with it. */
export interface Figures {
  readonly processes: number;
  /** 100 = one core; null where it is not known of any. */
  readonly cpu_percent: number | null;
  readonly threads: number;
  readonly rss_bytes: number | null;
}

export interface PickerRow {
  readonly key: string;
  /** From 1. */
  readonly depth: number;
  /** Whether what is below it is listed; null: nothing is. */
  readonly open: boolean | null;
  /** Null: a heading. */
  readonly process: Process | null;
  /** Of a heading: name, and what it is. */
  readonly label: string;
  readonly note: string;
  /** What attaches to all of it; null: it cannot be attached to as one. */
  readonly group: GroupSelector | null;
  readonly figures: Figures;
}

export interface Asked {
  readonly grouping: Grouping;
  readonly typed: string;
  readonly fits: (process: Process) => boolean;
  /** Rows that are not as they are at first. */
  readonly turned: ReadonlySet<string>;
}

/** The rows, busiest first on each level, and how many processes match. */
export function pickerRows(
  all: readonly Process[],
  asked: Asked,
): { readonly rows: readonly PickerRow[]; readonly found: readonly Process[] } {
  const found = all.filter((each) => asked.fits(each) && matchesSearch(each, asked.typed));
  switch (asked.grouping) {
    case "none":
      return { rows: byCpu(found.map((each) => leaf(each, 1))), found };
    case "tree":
      return { rows: treeRows(all, new Set(found), asked), found };
    default:
      return { rows: headedRows(all, found, asked.grouping, asked), found };
  }
}

/** Attach to a process and all its descendants. */
export function treeOf({ pid, start_ticks }: Process): GroupSelector {
  return { kind: "tree", pid, start_ticks, value: null };
}

const keyOf = (process: Process): string => `${process.pid}@${process.start_ticks}`;

function leaf(process: Process, depth: number): PickerRow {
  const { cpu_percent, threads, rss_bytes } = process;
  return {
    ...{ key: keyOf(process), depth, open: null, process, label: "", note: "", group: null },
    figures: { processes: 1, cpu_percent, threads, rss_bytes },
  };
}

function headedRows(
  all: readonly Process[],
  found: readonly Process[],
  kind: "container" | "unit",
  { typed, turned }: Asked,
): readonly PickerRow[] {
  const members = gathered(all, kind);
  const shown = gathered(found, kind);
  const headings = Array.from(shown, ([value, below]): PickerRow => {
    const key = `${kind}:${value}`;
    // What was searched for is listed; else headings come first.
    const open = turned.has(key) !== (typed.trim() !== "" || value === "");
    return {
      ...{ key, depth: 1, open, process: null },
      ...headingOf(kind, value, below),
      group: value === "" ? null : { kind, value, pid: null, start_ticks: null },
      figures: sumOf((members.get(value) ?? below).map((each) => leaf(each, 1).figures)),
    };
  });
  const none = `${kind}:`;
  const sorted = byCpu(headings).sort((a, b) => Number(a.key === none) - Number(b.key === none));
  return sorted.flatMap((heading) => {
    const below = shown.get(heading.key.slice(kind.length + 1)) ?? [];
    return heading.open ? [heading, ...byCpu(below.map((each) => leaf(each, 2)))] : [heading];
  });
}

function headingOf(
  kind: "container" | "unit",
  value: string,
  [first]: readonly Process[],
): Pick<PickerRow, "label" | "note"> {
  if (value === "") return { label: `no ${kind}`, note: "" };
  if (kind === "unit" || !first?.container) return { label: value, note: "systemd unit" };
  const { id, name, runtime, pod } = first.container;
  const note = runtime === "other" ? "container" : `${runtime} container`;
  return { label: name ?? id.slice(0, 12), note: pod === null ? note : `${note}, pod ${pod}` };
}

function gathered(
  processes: readonly Process[],
  kind: "container" | "unit",
): Map<string, Process[]> {
  const groups = new Map<string, Process[]>();
  for (const process of processes) {
    const value = (kind === "unit" ? process.unit : process.container?.id) ?? "";
    const held = groups.get(value);
    if (held) held.push(process);
    else groups.set(value, [process]);
  }
  return groups;
}

/** A process with those below it. */
interface Branch {
  readonly process: Process;
  readonly below: readonly Branch[];
  readonly figures: Figures;
  /** It is shown: it was found, or one below it. */
  readonly shown: boolean;
  readonly shownBelow: boolean;
}

function treeRows(
  all: readonly Process[],
  found: ReadonlySet<Process>,
  asked: Asked,
): readonly PickerRow[] {
  const known = new Set(all.map(({ pid }) => pid));
  const children = new Map<number, Process[]>();
  const roots: Process[] = [];
  for (const process of all) {
    const { parent = null, pid } = process;
    if (parent === null || parent === pid || !known.has(parent)) roots.push(process);
    else children.set(parent, [...(children.get(parent) ?? []), process]);
  }
  const branchOf = (process: Process): Branch => {
    const below = (children.get(process.pid) ?? []).map(branchOf);
    const own = leaf(process, 1).figures;
    const figures = sumOf([own, ...below.map((each) => each.figures)]);
    const shownBelow = below.some(({ shown }) => shown);
    return { process, below, figures, shown: found.has(process) || shownBelow, shownBelow };
  };
  return branchRows(roots.map(branchOf), 1, asked);
}

function branchRows(
  branches: readonly Branch[],
  depth: number,
  asked: Asked,
): readonly PickerRow[] {
  const searching = asked.typed.trim() !== "";
  const rows = branches.filter(({ shown }) => shown);
  rows.sort((a, b) => cpuOf(b.figures) - cpuOf(a.figures) || a.process.pid - b.process.pid);
  return rows.flatMap(({ process, figures, below, shownBelow }): readonly PickerRow[] => {
    const own = leaf(process, depth);
    if (below.length === 0) return [own];
    // Roots are open, but for that of kernel threads; a search opens the way to what it found.
    const atFirst = searching ? shownBelow : depth === 1 && process.refusal === null;
    const open = asked.turned.has(own.key) !== atFirst;
    const row: PickerRow = {
      ...own,
      open,
      group: process.refusal === null ? treeOf(process) : null,
      figures: open ? { ...own.figures, processes: figures.processes } : figures,
    };
    if (!open) return [row];
    // Opened by hand although nothing below was found: all of it.
    const listed = shownBelow ? below : below.map((each) => ({ ...each, shown: true }));
    return [row, ...branchRows(listed, depth + 1, asked)];
  });
}

function sumOf(parts: readonly Figures[]): Figures {
  const sum = (of: (part: Figures) => number | null): number | null =>
    parts.reduce<number | null>((total, part) => {
      const value = of(part);
      return value === null ? total : (total ?? 0) + value;
    }, null);
  return {
    processes: sum(({ processes }) => processes) ?? 0,
    cpu_percent: sum(({ cpu_percent }) => cpu_percent),
    threads: sum(({ threads }) => threads) ?? 0,
    rss_bytes: sum(({ rss_bytes }) => rss_bytes),
  };
}

const cpuOf = ({ cpu_percent }: Figures): number => cpu_percent ?? 0;

/** Busiest first; among equals those with more threads, then the older pid. */
function byCpu(rows: readonly PickerRow[]): PickerRow[] {
  return [...rows].sort(
    (a, b) =>
      cpuOf(b.figures) - cpuOf(a.figures) ||
      b.figures.threads - a.figures.threads ||
      (a.process?.pid ?? 0) - (b.process?.pid ?? 0) ||
      (a.key < b.key ? -1 : 1),
  );
}
