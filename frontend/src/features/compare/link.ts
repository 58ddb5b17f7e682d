/** The state of the Compare page, which its address holds. Pure. */

import type { AlignKind, CompareBasis, Comparison } from "../../wire/generated/models";
import { parseSide } from "./side";

/** A manual match: this role of this side has this label in the comparison. */
export interface Correction {
  readonly run: string;
  readonly role: string;
  readonly label: string;
}

export type Layout = "overlay" | "each";
export type CurveKind = "rate" | "total";
/** Row order: as given by the backend, by size of the difference, or by metric. */
export type RowOrder = "given" | "size" | "metric";

/** Scope of rows: the whole process, roles, or roles within processes of each name. */
export type RowScope = "process" | "roles" | "split";

export interface CompareLink {
  /** Groups of repeats, runs or windows of runs (see side.ts); the first is the baseline. */
  readonly groups: readonly (readonly string[])[];
  readonly align: AlignKind;
  /** Text of the alignment mark; "" if none is chosen. */
  readonly mark: string;
  readonly match: readonly Correction[];
  /** Basis on which counters are compared. */
  readonly basis: CompareBasis;
  readonly metric: string;
  /** Role of the curves; "" for the whole process. */
  readonly role: string;
  readonly layout: Layout;
  readonly kind: CurveKind;
  /** Text that the metric or role of a row must contain. */
  readonly filter: string;
  readonly rows: RowScope;
  readonly order: RowOrder;
}

/** Props of the page's parts: the request, the answer, and the callback for another request. */
export interface PartProps {
  readonly link: CompareLink;
  readonly comparison: Comparison;
  readonly onLink: (link: CompareLink) => void;
}

const ALIGNS: readonly AlignKind[] = ["start", "policy", "mark"];

export const EMPTY_LINK: CompareLink = {
  groups: [],
  align: "start",
  mark: "",
  match: [],
  basis: "rates",
  metric: "cpu_run_ns",
  role: "",
  layout: "overlay",
  kind: "rate",
  filter: "",
  rows: "process",
  order: "given",
};

/** Read a query; invalid parts are ignored. */
export function parseLink(query: string): CompareLink {
  const given = new URLSearchParams(query);
  const text = (name: string, otherwise = "") => given.get(name) ?? otherwise;
  const seen = new Set<string>();
  const groups = text("runs")
    .split(",")
    // In a query, an unescaped plus is a space.
    .map((group) => group.split(/[+ ]/).flatMap((text) => freshSide(text, seen)))
    .filter((group) => group.length > 0);
  return {
    groups,
    align: ALIGNS.find((align) => align === given.get("align")) ?? EMPTY_LINK.align,
    mark: text("mark"),
    match: given.getAll("match").flatMap((one) => correctionOf(one) ?? []),
    basis: given.get("basis") === "totals" ? "totals" : "rates",
    metric: text("metric", EMPTY_LINK.metric),
    role: text("role"),
    layout: given.get("layout") === "each" ? "each" : "overlay",
    kind: given.get("kind") === "total" ? "total" : "rate",
    filter: text("filter"),
    rows: (["roles", "split"] as const).find((rows) => rows === given.get("rows")) ?? "process",
    order: (["size", "metric"] as const).find((order) => order === given.get("order")) ?? "given",
  };
}

function freshSide(text: string, seen: Set<string>): readonly string[] {
  const side = parseSide(text);
  if (side === null || seen.has(side)) return [];
  seen.add(side);
  return [side];
}

function correctionOf(text: string): Correction | null {
  const [, run = "", role = "", label = ""] = /^([^:]+):(.+)=([^=]+)$/s.exec(text) ?? [];
  const side = parseSide(run);
  return side === null ? null : { run: side, role, label };
}

/** Whether a role is split by process name, in the backend's notation. */
function isSplit(role: string): boolean {
  return role.includes(" → ");
}

/** Query for the backend. */
export function apiQuery({ groups, align, mark, match, basis, rows }: CompareLink): string {
  const query = new URLSearchParams();
  query.set("runs", groups.map((group) => group.join("+")).join(","));
  if (basis !== "rates") {
    query.set("basis", basis);
  }
  const split = rows === "split";
  if (split) {
    query.set("split", "process");
  }
  if (align !== "start") {
    query.set("align", align);
  }
  if (align === "mark") {
    query.set("mark", mark);
  }
  // Split roles have other names.
  for (const { run, role, label } of match.filter(({ role }) => isSplit(role) === split)) {
    query.append("match", `${run}:${role}=${label}`);
  }
  return query.toString();
}

/** The address of a comparison; defaults are omitted. */
export function compareHref(link: CompareLink): string {
  const query = new URLSearchParams(apiQuery({ ...link, match: [] }));
  for (const { run, role, label } of link.match) {
    query.append("match", `${run}:${role}=${label}`);
  }
  const runs = link.groups.map((group) => group.join("+")).join(",");
  query.delete("runs");
  query.delete("split");
  if (link.align !== "mark" && link.mark !== "") {
    query.set("mark", link.mark);
  }
  for (const name of ["metric", "role", "layout", "kind", "filter", "rows", "order"] as const) {
    if (link[name] !== EMPTY_LINK[name]) {
      query.set(name, link[name]);
    }
  }
  // IDs need no escape, and people read addresses.
  const rest = query.toString();
  return `/compare?runs=${runs}${rest === "" ? "" : `&${rest}`}`;
}

/** A comparison of these runs; runs of one group are repeats. */
export function linkOf(
  runs: readonly { readonly id: string; readonly group: string | null }[],
): CompareLink {
  const groups: string[][] = [];
  const named = new Map<string, string[]>();
  for (const { id, group } of runs) {
    const known = group === null ? undefined : named.get(group);
    if (known !== undefined) {
      known.push(id);
      continue;
    }
    const fresh = [id];
    groups.push(fresh);
    if (group !== null) {
      named.set(group, fresh);
    }
  }
  return { ...EMPTY_LINK, groups };
}

/** Sides in the comparison's order. */
export function runsOf({ groups }: CompareLink): readonly string[] {
  return groups.flat();
}

/** Move a run to a group, or (null) to a new one at the end. */
export function regrouped(link: CompareLink, run: string, to: number | null): CompareLink {
  const groups = link.groups.map((group, index) => {
    const others = group.filter((each) => each !== run);
    return index === to ? [...others, run] : others;
  });
  if (to === null) {
    groups.push([run]);
  }
  return { ...link, groups: groups.filter((group) => group.length > 0) };
}

/** Make a group the baseline. */
export function withBaseline(link: CompareLink, index: number): CompareLink {
  const chosen = link.groups[index];
  return chosen === undefined
    ? link
    : { ...link, groups: [chosen, ...link.groups.filter((_, each) => each !== index)] };
}

/** Remove a run and its manual matches. */
export function without(link: CompareLink, run: string): CompareLink {
  return {
    ...link,
    groups: link.groups
      .map((group) => group.filter((each) => each !== run))
      .filter((group) => group.length > 0),
    match: link.match.filter((one) => one.run !== run),
  };
}

/** Add a run in a new group. */
export function withRun(link: CompareLink, run: string): CompareLink {
  return runsOf(link).includes(run) ? link : { ...link, groups: [...link.groups, [run]] };
}

/** Replace a side by another window of the same run, or by another run. */
export function replaced(link: CompareLink, side: string, by: string): CompareLink {
  if (runsOf(link).includes(by)) return link;
  const instead = (each: string) => (each === side ? by : each);
  return {
    ...link,
    groups: link.groups.map((group) => group.map(instead)),
    match: link.match.map((one) => ({ ...one, run: instead(one.run) })),
  };
}

/** Match a role of a run with this label; "" undoes the match. */
export function corrected(
  link: CompareLink,
  run: string,
  role: string,
  label: string,
): CompareLink {
  const others = link.match.filter((one) => one.run !== run || one.role !== role);
  return { ...link, match: label === "" ? others : [...others, { run, role, label }] };
}
