/**
 * Rows of the picker: processes, or their groups with the processes below. Pure. Match expressions
 * of groups, with the collector's semantics: docs/protocol.md.
 */

import { counted } from "../../stream/format";
import type { GroupSelector, Process } from "../../wire/generated/models";

/** Maximum number of terms; expressions with more are refused. */
const MAX_TERMS = 16;

/** Whether a term with a key holds; null if the word is no such term. */
function termHolds(process: Process, word: string): boolean | null {
  const colon = word.indexOf(":");
  const value = word.slice(colon + 1);
  switch (colon < 0 || value === "" ? "" : word.slice(0, colon)) {
    case "name":
      return globFits(process.name, value);
    case "user":
      return value === process.user || value === String(process.uid);
    case "port":
      return process.ports.includes(Number(value));
    case "command":
      return commandHas(process, value);
    default:
      return null;
  }
}

/** Whether all terms of an expression hold. */
export function expressionHolds(process: Process, expression: string): boolean {
  return wordsOf(expression).every((word) => termHolds(process, word) ?? commandHas(process, word));
}

/**
 * Convert typed text into a match expression.
 * @param found Processes found by the text: a word becomes a term that holds for all of them.
 * @returns Null if no equivalent expression exists.
 */
export function expressionOf(typed: string, found: readonly Process[]): string | null {
  const words = wordsOf(typed);
  if (words.length === 0 || words.length > MAX_TERMS || found.length === 0) return null;
  const terms = words.map((word) => termOf(word, found));
  return terms.includes(null) ? null : terms.join(" ");
}

function termOf(word: string, found: readonly Process[]): string | null {
  if (found.every((each) => termHolds(each, word) !== null)) return word;
  if (/^:[0-9]+$/.test(word)) return `port${word}`;
  const candidates = [
    word.includes(":") ? `command:${word}` : word,
    `user:${word}`,
    `name:*${word}*`,
    `port:${word}`,
  ];
  return candidates.find((term) => found.every((each) => expressionHolds(each, term))) ?? null;
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean);
}

function commandHas({ command }: Process, text: string): boolean {
  return (command ?? "").toLowerCase().includes(text.toLowerCase());
}

/** Shell glob matching: * and ? and ranges in brackets. */
function globFits(name: string, glob: string): boolean {
  const source = glob.replace(/\[!?[^\]]+\]|[*?]|[.*+?^${}()|[\]\\]/g, (part) => {
    if (part === "*") return ".*";
    if (part === "?") return ".";
    if (part.length > 1) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    return `\\${part}`;
  });
  try {
    return new RegExp(`^${source}$`, "s").test(name);
  } catch {
    return false;
  }
}

/** Grouping of the processes. */
export type Grouping = "none" | "tree" | "container" | "unit";

/** Figures of a row: of a process, or of a row with its subtree. */
export interface Figures {
  readonly processes: number;
  /** 100 = one core; null if unknown for all processes. */
  readonly cpu_percent: number | null;
  readonly threads: number;
  readonly rss_bytes: number | null;
}

export interface PickerRow {
  readonly key: string;
  /** Depth, from 1. */
  readonly depth: number;
  /** True if the children are listed; null without children. */
  readonly open: boolean | null;
  /** The process, or null for a heading. */
  readonly process: Process | null;
  /** Name and kind of a heading. */
  readonly label: string;
  readonly note: string;
  /** Selector that attaches to the whole subtree; null if impossible. */
  readonly group: GroupSelector | null;
  readonly figures: Figures;
}

export interface Asked {
  readonly grouping: Grouping;
  readonly typed: string;
  readonly fits: (process: Process) => boolean;
  /** Rows toggled from their initial state. */
  readonly turned: ReadonlySet<string>;
}

/** The rows, busiest first on each level, and the matching processes; a typed pid comes first. */
export function pickerRows(
  all: readonly Process[],
  asked: Asked,
): { readonly rows: readonly PickerRow[]; readonly found: readonly Process[] } {
  const found = all.filter((each) => asked.fits(each) && matchesSearch(each, asked.typed));
  switch (asked.grouping) {
    case "none":
      return { rows: idFirst(byCpu(found.map((each) => leaf(each, 1))), asked.typed), found };
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

/** Kind of a heading. A pod contains containers. */
type Kind = "pod" | "container" | "unit";

/** A row with its listed descendants. */
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
    // A search opens matching rows; otherwise headings come first.
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

/** Sort by CPU, busiest first; rows without a value come last. */
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
/** Length of the shown prefix of a pod's uid, a UUID. */
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

/** A process with its descendants. */
interface Branch {
  readonly process: Process;
  readonly below: readonly Branch[];
  readonly figures: Figures;
  /** Shown, because it or a descendant matches. */
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
    // Roots are open initially, except the kernel threads' root; a search opens the ancestors of
    // matches.
    const atFirst = searching ? shownBelow : depth === 1 && process.refusal === null;
    const open = asked.turned.has(own.key) !== atFirst;
    const row: PickerRow = {
      ...own,
      open,
      group: process.refusal === null ? treeOf(process) : null,
      figures: open ? { ...own.figures, processes: figures.processes } : figures,
    };
    if (!open) return [row];
    // Opened by hand without a match below: shows the whole subtree.
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

/** Sort by CPU, busiest first; ties by thread count, then the older pid. */
function byCpu(rows: readonly PickerRow[]): PickerRow[] {
  return [...rows].sort(
    (a, b) =>
      cpuOf(b.figures) - cpuOf(a.figures) ||
      b.figures.threads - a.figures.threads ||
      (a.process?.pid ?? 0) - (b.process?.pid ?? 0) ||
      (a.key < b.key ? -1 : 1),
  );
}

/** Move a process whose pid is typed to the top: digits also occur in command lines of others. */
function idFirst(rows: readonly PickerRow[], typed: string): PickerRow[] {
  const words = new Set(typed.split(/\s+/));
  const isTyped = ({ process }: PickerRow) => process !== null && words.has(String(process.pid));
  return [...rows].sort((a, b) => Number(isTyped(b)) - Number(isTyped(a)));
}

/**
 * Whether a process matches the typed text. Each word must occur in its name, command line, user,
 * pid, container, pod, unit or a listening port. A word may also be a term of a match expression
 * (match.ts); ":80" matches a whole port only.
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
