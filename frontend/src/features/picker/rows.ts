/** Rows of the picker: processes, or what they are part of with the processes below it. Pure. */

import { counted } from "../../stream/format";
import type { GroupSelector, Process } from "../../wire/generated/models";
import { termHolds } from "./match";

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

/** What a heading stands for. A pod has containers below it. */
type Kind = "pod" | "container" | "unit";

/** A row, and all that is listed with it. */
interface Block {
  readonly row: PickerRow;
  readonly below: readonly PickerRow[];
}

function headedRows(
  all: readonly Process[],
  found: readonly Process[],
  grouping: "container" | "unit",
  asked: Asked,
): readonly PickerRow[] {
  return sorted(blocksOf(all, found, grouping === "unit" ? "unit" : "pod", 1, asked));
}

function blocksOf(
  all: readonly Process[],
  found: readonly Process[],
  kind: Kind,
  depth: number,
  asked: Asked,
): readonly Block[] {
  const members = gathered(all, kind);
  return Array.from(gathered(found, kind)).flatMap(([value, shown]): readonly Block[] => {
    const inside = members.get(value) ?? shown;
    if (kind === "pod" && value === "") return blocksOf(inside, shown, "container", depth, asked);
    const key = `${kind}:${value}`;
    // What was searched for is listed; else headings come first.
    const open = asked.turned.has(key) !== (asked.typed.trim() !== "" || value === "");
    const row: PickerRow = {
      ...{ key, depth, open, process: null },
      ...headingOf(kind, value, inside),
      group: value === "" ? null : { kind, value, pid: null, start_ticks: null },
      figures: sumOf(inside.map((each) => leaf(each, 1).figures)),
    };
    if (!open) return [{ row, below: [] }];
    const below =
      kind === "pod"
        ? sorted(blocksOf(inside, shown, "container", depth + 1, asked))
        : byCpu(shown.map((each) => leaf(each, depth + 1)));
    return [{ row, below }];
  });
}

/** Busiest first, those without one last. */
function sorted(blocks: readonly Block[]): readonly PickerRow[] {
  const below = new Map(blocks.map((block) => [block.row, block.below]));
  const isNone = ({ group }: PickerRow): number => Number(group === null);
  return byCpu([...below.keys()])
    .sort((a, b) => isNone(a) - isNone(b))
    .flatMap((row) => [row, ...(below.get(row) ?? [])]);
}

function headingOf(
  kind: Kind,
  value: string,
  inside: readonly Process[],
): Pick<PickerRow, "label" | "note"> {
  if (value === "") return { label: `no ${kind}`, note: "" };
  const container = inside[0]?.container;
  if (kind === "unit" || !container) return { label: value, note: "systemd unit" };
  if (kind === "pod") {
    const held = new Set(inside.map((each) => each.container?.id)).size;
    const label = container.pod_name ?? `pod ${value.slice(0, UID_START)}`;
    return { label, note: `pod, ${counted(held, "container")}` };
  }
  const { id, name, runtime } = container;
  const note = runtime === "other" ? "container" : `${runtime} container`;
  return { label: name ?? id.slice(0, SHORT_ID), note };
}

const SHORT_ID = 12;
/** Of the uid of a pod, which is a UUID. */
const UID_START = 8;

function gathered(processes: readonly Process[], kind: Kind): Map<string, Process[]> {
  const groups = new Map<string, Process[]>();
  for (const process of processes) {
    const value = headingValue(process, kind) ?? "";
    const held = groups.get(value);
    if (held) held.push(process);
    else groups.set(value, [process]);
  }
  return groups;
}

function headingValue({ unit, container }: Process, kind: Kind): string | null | undefined {
  switch (kind) {
    case "unit":
      return unit;
    case "pod":
      return container?.pod;
    default:
      return container?.id;
  }
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

/**
 * Whether a process matches what was typed: each word must be in its name, command line, user, pid,
 * container, pod, unit or a port it listens on (":80" means a port only, and wholly), or be a term of a
 * match expression (match.ts).
 */
export function matchesSearch(process: Process, typed: string): boolean {
  const words = typed.split(/\s+/).filter(Boolean);
  return words.every((word) => termHolds(process, word) ?? matchesWord(process, word));
}

function matchesWord(process: Process, typed: string): boolean {
  const word = typed.toLowerCase();
  if (/^:[0-9]+$/.test(word)) {
    return process.ports.includes(Number(word.slice(1)));
  }
  return (
    process.name.toLowerCase().includes(word) ||
    (process.command ?? process.executable ?? "").toLowerCase().includes(word) ||
    process.user.toLowerCase() === word ||
    (process.unit ?? "").toLowerCase().includes(word) ||
    (process.container?.name ?? "").toLowerCase().includes(word) ||
    (process.container?.id ?? "").startsWith(word) ||
    (process.container?.pod_name ?? "").toLowerCase().includes(word) ||
    (process.container?.pod ?? "").startsWith(word) ||
    String(process.pid).startsWith(word) ||
    process.ports.some((port) => String(port).startsWith(word))
  );
}
