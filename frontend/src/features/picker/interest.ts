/** Notable items on a machine: the first of each kind, groups before their processes. Pure. */

import { formatTenths, formatValue } from "../../stream/format";
import type { GroupSelector, Process } from "../../wire/generated/models";
import { treeOf } from "./rows";

/** A notable item, and the selector that attaches to it. */
export interface Interesting {
  readonly key: string;
  readonly name: string;
  /** "pid 4711", "container, 3 processes". */
  readonly what: string;
  readonly figure: string;
  readonly process: Process | null;
  readonly group: GroupSelector | null;
}

/** A category of notable items, with its leading item. */
export interface Interest {
  readonly id: InterestId;
  readonly title: string;
  /** Explanation of the figure, on request. */
  readonly meaning: string;
  readonly found: readonly Interesting[];
}

export type InterestId = "busiest" | "waiting" | "throttled" | "threads";

/** One process, or several that belong together. */
interface Subject {
  readonly key: string;
  readonly name: string;
  readonly what: string;
  readonly group: GroupSelector | null;
  readonly processes: readonly Process[];
}

interface Kind {
  readonly id: InterestId;
  readonly title: string;
  readonly meaning: string;
  /** Value of the figure; NaN if unknown. */
  readonly value: (subject: Subject) => number;
  /** Minimum value worth a line. */
  readonly least: number;
  readonly text: (value: number) => string;
}

const MAX_INTERESTS = 3;

const KINDS: readonly Kind[] = [
  {
    id: "busiest",
    title: "Busiest",
    meaning: "CPU since the listing before; 100 % is one core.",
    value: ({ processes }) => sumOf(processes, ({ cpu_percent }) => cpu_percent),
    least: 1,
    text: formatTenths,
  },
  {
    id: "waiting",
    title: "Waiting for a CPU",
    meaning:
      "Run-queue delay of main threads since the listing before: how many waited on average.",
    value: ({ processes }) => sumOf(processes, ({ wait_percent }) => wait_percent ?? null),
    least: 1,
    text: (percent) => formatValue(percent / 100, "threads"),
  },
  {
    id: "throttled",
    title: "Throttled by a CPU limit",
    meaning: "Time for which its control group was throttled; 100 % is one CPU all the time.",
    // Processes of one group share the value.
    value: ({ processes }) =>
      Math.max(
        ...processes.flatMap(({ throttled_percent }) =>
          throttled_percent == null ? [] : [throttled_percent],
        ),
      ),
    least: 0.1,
    text: formatTenths,
  },
  {
    id: "threads",
    title: "Most threads",
    meaning: "Threads that live now.",
    value: ({ processes }) => sumOf(processes, ({ threads }) => threads),
    least: 8,
    text: (value) => formatValue(value, "count"),
  },
];

/** The leading item of each category; categories without data or a notable item are omitted. */
export function interestsOf(processes: readonly Process[]): readonly Interest[] {
  const subjects = subjectsOf(processes.filter(({ refusal }) => refusal === null));
  return KINDS.flatMap(({ id, title, meaning, value, least, text }): readonly Interest[] => {
    const ranked = subjects
      .map((subject) => ({ subject, value: value(subject) }))
      .filter((each) => each.value >= least)
      .sort((a, b) => b.value - a.value || (a.subject.key < b.subject.key ? -1 : 1))
      .slice(0, MAX_INTERESTS);
    const found = ranked.map((each): Interesting => {
      const { key, name, what, group, processes: of } = each.subject;
      const process = group === null ? (of[0] ?? null) : null;
      return { key, name, what, figure: text(each.value), process, group };
    });
    return found.length > 0 ? [{ id, title, meaning, found }] : [];
  });
}

/**
 * Containers, services and families of several processes as one item each; all others separately.
 */
function subjectsOf(processes: readonly Process[]): readonly Subject[] {
  const groups = new Map<
    string,
    { name: string; kind: string; selector: GroupSelector; of: Process[] }
  >();
  const single: Process[] = [];
  const rootOf = families(processes);
  for (const process of processes) {
    const group = groupOf(process) ?? familyOf(rootOf(process));
    const held = groups.get(group.key);
    if (held) held.of.push(process);
    else groups.set(group.key, { ...group, of: [process] });
  }
  const subjects: Subject[] = [];
  for (const [key, { name, kind, selector, of }] of groups) {
    if (of.length < 2) single.push(...of);
    else {
      const what = `${kind}, ${of.length} processes`;
      subjects.push({ key, name, what, group: selector, processes: of });
    }
  }
  for (const process of single) {
    const { pid, start_ticks, name } = process;
    const key = `${pid}@${start_ticks}`;
    subjects.push({ key, name, what: `pid ${pid}`, group: null, processes: [process] });
  }
  return subjects;
}

/** The group that a process belongs to as a unit; a user's login session does not count. */
function groupOf({
  container,
  unit,
}: Process): { key: string; name: string; kind: string; selector: GroupSelector } | null {
  const none = { pid: null, start_ticks: null } as const;
  if (container) {
    const { id, name } = container;
    const selector = { kind: "container", value: id, ...none } as const;
    return { key: `container:${id}`, name: name ?? id.slice(0, 12), kind: "container", selector };
  }
  if (unit?.endsWith(".service") && !unit.startsWith("user@")) {
    const selector = { kind: "unit", value: unit, ...none } as const;
    return {
      key: `unit:${unit}`,
      name: unit.slice(0, -".service".length),
      kind: "service",
      selector,
    };
  }
  return null;
}

/**
 * The first process of each process' family: an ancestor whose descendants all share its name, as
 * for forking servers. The process itself if it has no such family.
 */
function families(processes: readonly Process[]): (of: Process) => Process {
  const byPid = new Map(processes.map((each) => [each.pid, each]));
  const ancestors = ({ parent }: Process): readonly Process[] => {
    const found = new Set<Process>();
    let above = byPid.get(parent ?? 0);
    // Process IDs are recycled: a listing may contain a cycle.
    while (above !== undefined && !found.has(above)) {
      found.add(above);
      above = byPid.get(above.parent ?? 0);
    }
    return [...found];
  };
  const mixed = new Set(
    processes.flatMap((each) => ancestors(each).filter(({ name }) => name !== each.name)),
  );
  return (of) => {
    const above = ancestors(of);
    const end = above.findIndex((each) => each.name !== of.name || mixed.has(each));
    return (end < 0 ? above : above.slice(0, end)).at(-1) ?? of;
  };
}

function familyOf(root: Process) {
  const key = `tree:${root.pid}@${root.start_ticks}`;
  return { key, name: root.name, kind: "tree", selector: treeOf(root) };
}

/** Sum of the known values; NaN if none is known. */
function sumOf(processes: readonly Process[], of: (process: Process) => number | null): number {
  let sum = Number.NaN;
  for (const process of processes) {
    const value = of(process);
    if (value !== null) sum = (Number.isNaN(sum) ? 0 : sum) + value;
  }
  return sum;
}
