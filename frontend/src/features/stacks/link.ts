/**
 * Address of the Stacks page: the selection of a flame graph, and how it is shown. All links to the
 * page are made here. Pure.
 */

import type { StackSide } from "../../wire/generated/models";
import { type Grouping, PLAIN } from "./regroup";

/** Source of stacks: a target or a run. */
export interface StackSource {
  readonly kind: "target" | "run";
  readonly id: string;
}

/** Time of the stacks: the last seconds of a live target, a span in Unix ms, or all of it. */
export type StackWindow =
  | { readonly kind: "last"; readonly seconds: number }
  | { readonly kind: "fixed"; readonly from_ms: number; readonly to_ms: number }
  | { readonly kind: "all" };

/** Threads, states, lock and time that a flame graph is of. */
export interface StackScope {
  readonly window: StackWindow;
  /** Threads; empty for all. */
  readonly tids: readonly number[];
  readonly roles: readonly string[];
  /** States by ID, such as "futex"; empty for all. */
  readonly states: readonly string[];
  /** Number of the lock that is waited for; null for no restriction. */
  readonly lock: number | null;
}

export const SIDES = ["threads", "releasers", "holders"] as const satisfies readonly StackSide[];

/** Other side of a difference: the time before, or another role. */
export type Against =
  | { readonly kind: "before" }
  | { readonly kind: "role"; readonly role: string };

export interface StacksLink extends StackScope, Grouping {
  readonly source: StackSource;
  /** Name of the lock or thread, as known where the link was made; "" if none. */
  readonly name: string;
  /** Comparison; null for the flame graph itself. */
  readonly against: Against | null;
  /** Side of a lock that is shown beside its waits. */
  readonly beside: Exclude<StackSide, "threads">;
  /** Names to the zoomed row of each side. */
  readonly zoom: Readonly<Record<StackSide, readonly string[]>>;
  readonly search: string;
  /** Roots below, callees above. */
  readonly upwards: boolean;
}

export const ALL_STACKS: StackScope = {
  window: { kind: "all" },
  tids: [],
  roles: [],
  states: [],
  lock: null,
};

const NO_ZOOM = { threads: [], releasers: [], holders: [] } as const;

/** A link without a source: the defaults of all other parts. */
export const PLAIN_LINK: Omit<StacksLink, "source"> = {
  ...ALL_STACKS,
  ...PLAIN,
  name: "",
  against: null,
  beside: "releasers",
  zoom: NO_ZOOM,
  search: "",
  upwards: false,
};

const TARGET = /^t-[0-9]+-[0-9a-f]{8}$/;
const RUN = /^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$/;
const STATE = /^[a-z_]{1,40}$/;
const MAX_LAST_S = 600;
/** Live window of a link that names none, in seconds. */
const DEFAULT_LAST_S = 60;

/** Options in the address, by name. */
const OPTIONS = {
  foldRecursion: "recursion",
  hideRuntime: "runtime",
  hideKernel: "kernel",
  byModule: "modules",
} as const satisfies Record<keyof Grouping, string>;

/** Read a query; null if it names neither a target nor a run. Other invalid parts are ignored. */
export function parseStacksLink(query: string): StacksLink | null {
  const given = new URLSearchParams(query);
  const source = sourceFrom(given);
  if (source === null) return null;
  const has = (name: string) => given.get(OPTIONS[name as keyof Grouping]) !== null;
  const wholes = (name: string) =>
    given.getAll(name).flatMap((text) => (/^[1-9][0-9]{0,9}$/.test(text) ? [Number(text)] : []));
  return {
    source,
    window: windowFrom(given, source),
    tids: wholes("tid"),
    roles: given.getAll("role").filter((role) => role !== ""),
    states: given.getAll("state").filter((state) => STATE.test(state)),
    lock: wholes("lock")[0] ?? null,
    name: given.get("name") ?? "",
    against: againstFrom(given.get("against")),
    beside: given.get("beside") === "holders" ? "holders" : "releasers",
    zoom: {
      threads: given.getAll("zoom"),
      releasers: given.getAll("releasers"),
      holders: given.getAll("holders"),
    },
    search: given.get("search") ?? "",
    upwards: given.get("flame") === "up",
    foldRecursion: has("foldRecursion"),
    hideRuntime: has("hideRuntime"),
    hideKernel: has("hideKernel"),
    byModule: has("byModule"),
  };
}

function sourceFrom(given: URLSearchParams): StackSource | null {
  const [target, run] = [given.get("target") ?? "", given.get("run") ?? ""];
  if (TARGET.test(target)) return { kind: "target", id: target };
  return RUN.test(run) ? { kind: "run", id: run } : null;
}

function windowFrom(given: URLSearchParams, source: StackSource): StackWindow {
  const number = (name: string) => Number(given.get(name) ?? Number.NaN);
  const [from_ms, to_ms, seconds] = [number("from"), number("to"), number("last")];
  if (from_ms > 0 && to_ms > from_ms) return { kind: "fixed", from_ms, to_ms };
  if (source.kind === "run") return { kind: "all" };
  const kept = seconds >= 1 ? Math.min(MAX_LAST_S, seconds) : DEFAULT_LAST_S;
  return { kind: "last", seconds: kept };
}

function againstFrom(text: string | null): Against | null {
  if (text === "before") return { kind: "before" };
  const role = text?.startsWith("role:") ? text.slice("role:".length) : "";
  return role === "" ? null : { kind: "role", role };
}

/** Address of the Stacks page; defaults are omitted. */
export function stacksHref(link: Pick<StacksLink, "source"> & Partial<StacksLink>): string {
  const all = { ...PLAIN_LINK, ...link };
  const { window, source, zoom } = all;
  const query = new URLSearchParams({ [source.kind]: source.id });
  if (window.kind === "last") query.set("last", String(window.seconds));
  if (window.kind === "fixed") {
    query.set("from", String(window.from_ms));
    query.set("to", String(window.to_ms));
  }
  for (const tid of all.tids) query.append("tid", String(tid));
  for (const role of all.roles) query.append("role", role);
  for (const state of all.states) query.append("state", state);
  if (all.lock !== null) query.set("lock", String(all.lock));
  if (all.name !== "") query.set("name", all.name);
  if (all.against !== null) query.set("against", againstText(all.against));
  if (all.beside !== "releasers") query.set("beside", all.beside);
  for (const name of zoom.threads) query.append("zoom", name);
  for (const name of zoom.releasers) query.append("releasers", name);
  for (const name of zoom.holders) query.append("holders", name);
  if (all.search !== "") query.set("search", all.search);
  if (all.upwards) query.set("flame", "up");
  for (const [option, name] of Object.entries(OPTIONS)) {
    if (all[option as keyof Grouping]) query.set(name, optionText(option as keyof Grouping));
  }
  return `/stacks?${query}`;
}

function optionText(option: keyof Grouping): string {
  return option.startsWith("hide") ? "hidden" : "folded";
}

function againstText(against: Against): string {
  return against.kind === "before" ? "before" : `role:${against.role}`;
}

/** The times that a source knows, which turn a window into the backend's. */
export interface StackClock {
  /** Unix time at which tidscope attached, in ms. */
  readonly zero_ms: number;
  /** First and newest instant, in ns since then. */
  readonly first_ns: number;
  readonly newest_ns: number;
}

/** A span of the backend, in ns since attach. */
export interface SpanNs {
  readonly from_ns: number;
  readonly to_ns: number;
  /** Ends with the newest known stacks, which arrive later than frames. */
  readonly open: boolean;
}

/**
 * A window in the backend's times, within what the source knows. One outside of that, or of a run
 * with a single frame, is empty; the backend takes none without any length.
 */
export function spanOf(window: StackWindow, clock: StackClock): SpanNs {
  const span = spanWithin(window, clock);
  return { ...span, to_ns: Math.max(span.from_ns + 1, span.to_ns) };
}

function spanWithin(window: StackWindow, clock: StackClock): SpanNs {
  const { zero_ms, first_ns, newest_ns } = clock;
  const within = (ns: number) => Math.round(Math.max(first_ns, Math.min(newest_ns, ns)));
  switch (window.kind) {
    case "all":
      return { from_ns: within(first_ns), to_ns: within(newest_ns), open: false };
    case "last":
      return {
        from_ns: within(newest_ns - 1e9 * window.seconds),
        to_ns: within(newest_ns),
        open: true,
      };
    case "fixed":
      return {
        from_ns: within(1e6 * (window.from_ms - zero_ms)),
        to_ns: within(1e6 * (window.to_ms - zero_ms)),
        open: false,
      };
  }
}

/** The span of the same length before a span, as far as the source knows. */
export function spanBefore({ from_ns, to_ns }: SpanNs, { first_ns }: StackClock): SpanNs {
  const begin = Math.max(first_ns, from_ns - (to_ns - from_ns));
  return { from_ns: begin, to_ns: from_ns, open: false };
}

/** Query parameters of a span, with a prefix. */
function spanQuery(query: URLSearchParams, span: SpanNs, prefix = ""): void {
  query.set(`${prefix}from_ns`, String(span.from_ns));
  if (!span.open) query.set(`${prefix}to_ns`, String(span.to_ns));
}

/** Query parameters of a selection, with a prefix. */
function scopeQuery(query: URLSearchParams, scope: StackScope, prefix = ""): void {
  for (const tid of scope.tids) query.append(`${prefix}tid`, String(tid));
  for (const role of scope.roles) query.append(`${prefix}role`, role);
  // Waits for a lock are in one state.
  if (scope.lock !== null) query.set(`${prefix}lock`, String(scope.lock));
  else for (const state of scope.states) query.append(`${prefix}state`, state);
}

/** Query of a flame graph. */
export function graphQuery(scope: StackScope, span: SpanNs, side: StackSide): string {
  const query = new URLSearchParams();
  // A page that is late would ask for more than the length that it shows.
  if (span.open) query.set("last_ns", String(span.to_ns - span.from_ns));
  else spanQuery(query, span);
  scopeQuery(query, scope);
  if (side !== "threads") query.set("side", side);
  return query.toString();
}

/** One side of a difference. */
export interface DifferenceSide {
  readonly source: StackSource;
  readonly scope: StackScope;
  readonly span: SpanNs;
}

/** Query of a difference. */
export function differenceQuery(before: DifferenceSide, after: DifferenceSide): string {
  const query = new URLSearchParams();
  for (const [prefix, { source, scope, span }] of [
    ["before", before],
    ["after", after],
  ] as const) {
    query.set(prefix, `${source.kind}:${source.id}`);
    spanQuery(query, span, `${prefix}_`);
    scopeQuery(query, scope, `${prefix}_`);
  }
  return query.toString();
}

/** A scope and what it is compared with. */
export type Compared = StackScope & Pick<StacksLink, "source" | "against">;

/** The two sides of a comparison. */
export function differenceSides(
  { source, against, ...scope }: Compared,
  clock: StackClock,
): readonly [before: DifferenceSide, after: DifferenceSide] {
  if (against?.kind === "role") {
    const span = spanOf(scope.window, clock);
    const other = { ...scope, tids: [], roles: [against.role] };
    return [
      { source, scope: other, span },
      { source, scope, span },
    ];
  }
  const span = spanOf(halved(scope.window, clock), clock);
  return [
    { source, scope, span: spanBefore(span, clock) },
    { source, scope, span },
  ];
}

/** A live window that leaves as much time before it. */
function halved(window: StackWindow, { first_ns, newest_ns }: StackClock): StackWindow {
  if (window.kind !== "last") return window;
  return { kind: "last", seconds: Math.min(window.seconds, (newest_ns - first_ns) / 2e9) };
}

/** Whether a source knows nothing of the time before a window. */
export function isFirst(window: StackWindow, clock: StackClock): boolean {
  return window.kind !== "last" && spanOf(window, clock).from_ns <= clock.first_ns;
}
