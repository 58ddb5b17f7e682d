/** The thread table: filter, sort, group, and the rows on screen. */

import type { ProcessLife } from "./chartItem";
import { RING_FIELDS, type RingField } from "./chartSpecs";
import type { ViewInput } from "./chartView";
import { type CurrentRates, rateAt } from "./currentRates";
import type { Inexact } from "./inexact";
import { powerOf } from "./power";
import { smoothingFor } from "./rate";
import { ringOf } from "./series";
import { pickPoints, sparkline } from "./spark";
import type { TargetModel } from "./targetModel";
import { roleColour, type Thread } from "./threads";
import type { SortColumn, TableRequest, ThreadKey } from "./viewRequest";
import type { TableRow, TableView } from "./views";

const POINTS = 40;
const MAX_ROWS = 200;
const CPU = "cpu_run_ns";

/** Build the requested part of the table. */
export function tableView(input: ViewInput, rates: CurrentRates, asked: TableRequest): TableView {
  const { model } = input;
  const value = sortValue(model, rates, asked.sort);
  const order = tableGroups(input, asked, (groups) => sorted(groups, value, asked.descending));
  const from = Math.max(0, Math.min(asked.offset, order.length - 1));
  const limit = Math.max(0, Math.min(MAX_ROWS, asked.limit));
  return {
    offset: from,
    total: order.length,
    folded: asked.lives === "live" ? 0 : model.threads.folded,
    group: asked.group,
    fields: model.counters.fields,
    rows: order.slice(from, from + limit).map((group) => rowOf(input, rates, asked, group)),
    rate_span_s: rates.now_s - rates.base.time_s || Number.NaN,
    watts_per_core: powerOf(input, rates),
    now_s: input.now_s,
  };
}

/** Rate of a thread's field; none for an ended thread. */
function rateOf(model: TargetModel, rates: CurrentRates, thread: Thread, column: number): number {
  if (hasEnded(thread, rates.now_s) || isAbsent(model, thread, column)) return Number.NaN;
  return rateAt(rates, thread.slot * model.counters.fields.length + column);
}

/** Total of a thread's field. */
function totalOf(model: TargetModel, rates: CurrentRates, thread: Thread, column: number): number {
  if (isAbsent(model, thread, column)) return Number.NaN;
  return rates.latest[thread.slot * model.counters.fields.length + column] ?? Number.NaN;
}

/** Whether the kernel's value of a field is implausible, and no other value is known. */
function isAbsent(
  { counters, inexactValues }: TargetModel,
  thread: Thread,
  column: number,
): boolean {
  const field = counters.fields[column];
  return inexactValues.of(thread).some((one) => one.field === field && one.label === "invalid");
}

/** Inexact values of these threads, one per field. */
function inexactOf({ inexactValues }: TargetModel, threads: readonly Thread[]): readonly Inexact[] {
  const found = new Map<string, Inexact>();
  for (const thread of threads)
    for (const one of inexactValues.of(thread)) found.set(one.field, one);
  return Array.from(found.values());
}

/** Sum of the existing values; NaN if none exists. */
function sumOf(threads: readonly Thread[], value: (thread: Thread) => number): number {
  let sum = Number.NaN;
  for (const thread of threads) {
    const one = value(thread);
    if (!Number.isNaN(one)) sum = (Number.isNaN(sum) ? 0 : sum) + one;
  }
  return sum;
}

function sortValue(
  model: TargetModel,
  rates: CurrentRates,
  sort: SortColumn,
): (group: TableGroup) => number | string {
  switch (sort.by) {
    case "tid":
      return ({ threads }) => threads[0]?.tid ?? 0;
    case "name":
      return nameOf;
    case "role":
      return ({ threads }) => threads[0]?.role ?? "";
    case "age":
      return ({ threads }) => -Math.min(...threads.map((thread) => thread.start_ns));
    case "state": {
      const cpu = model.counters.columnOf(CPU);
      const weight = { live: 2, idle: 1, exited: 0 } as const;
      return ({ threads }) => weight[stateOf(model, rates, threads, cpu)];
    }
    case "rate": {
      const column = model.counters.columnOf(sort.field);
      return ({ threads }) => sumOf(threads, (thread) => rateOf(model, rates, thread, column));
    }
    case "total": {
      const column = model.counters.columnOf(sort.field);
      return ({ threads }) => sumOf(threads, (thread) => totalOf(model, rates, thread, column));
    }
  }
}

/** Sort; absent values come last in either direction, ties go to the lower tid. */
function sorted(
  groups: readonly TableGroup[],
  value: (group: TableGroup) => number | string,
  descending: boolean,
): TableGroup[] {
  const sign = descending ? -1 : 1;
  const keyed = groups.map((group) => ({ group, value: value(group) }));
  keyed.sort((a, b) => {
    const tie = (a.group.threads[0]?.tid ?? 0) - (b.group.threads[0]?.tid ?? 0);
    if (typeof a.value === "string" || typeof b.value === "string") {
      return sign * COLLATOR.compare(String(a.value), String(b.value)) || tie;
    }
    const lack = Number(Number.isNaN(a.value)) - Number(Number.isNaN(b.value));
    return lack || sign * (a.value - b.value) || tie;
  });
  return keyed.map((entry) => entry.group);
}

const COLLATOR = new Intl.Collator("en", { numeric: true });

function stateOf(
  model: TargetModel,
  rates: CurrentRates,
  threads: readonly Thread[],
  cpu: number,
): TableRow["state"] {
  if (threads.every((thread) => hasEnded(thread, rates.now_s))) return "exited";
  const busy = cpu >= 0 && sumOf(threads, (thread) => rateOf(model, rates, thread, cpu)) > 0;
  return busy ? "live" : "idle";
}

function rowOf(
  input: ViewInput,
  rates: CurrentRates,
  asked: TableRequest,
  group: TableGroup,
): TableRow {
  const { model, request } = input;
  const { key, kind, depth, open, threads } = group;
  const [first] = threads;
  const live = threads.filter((thread) => !hasEnded(thread, rates.now_s));
  const ends = threads.map((thread) => thread.end_s ?? 0);
  const keys = threads.map((thread) => thread.key);
  return {
    ...{ key, kind, depth, open },
    tid: kind === "thread" ? (first?.tid ?? null) : null,
    name: nameOf(group),
    role: kind === "process" ? "" : (first?.role ?? ""),
    process: processOf(first?.process ?? null),
    colour: colourOf(group),
    state: stateOf(model, rates, threads, model.counters.columnOf(CPU)),
    exact: threads.every((thread) => thread.end_s === null || thread.exact),
    threads: live.length,
    start_s: Math.min(...threads.map((thread) => thread.start_ns)) / 1e9,
    end_s: live.length > 0 ? null : Math.max(...ends),
    pinned: keys.some((one) => request.pinned.includes(one)),
    selected:
      request.selected !== null && (key === request.selected || keys.includes(request.selected)),
    rates: Float64Array.from(model.counters.fields, (_, column) =>
      sumOf(threads, (thread) => rateOf(model, rates, thread, column)),
    ),
    totals: Float64Array.from(model.counters.fields, (_, column) =>
      sumOf(threads, (thread) => totalOf(model, rates, thread, column)),
    ),
    inexact: inexactOf(model, threads),
    spark: sparkOf(input, asked.spark_field, threads),
  };
}

function nameOf({ kind, threads }: TableGroup): string {
  const [first] = threads;
  if (kind === "process") return first?.process?.name ?? "process not known yet";
  return (kind === "role" ? first?.role : first?.name) ?? "";
}

function colourOf({ kind, threads }: TableGroup): number {
  const [first] = threads;
  if (kind === "process") return first?.process?.colour ?? 0;
  return (kind === "role" ? roleColour(first?.hue ?? 0) : first?.colour) ?? 0;
}

function processOf(life: ProcessLife | null): TableRow["process"] {
  return life && { key: life.key, pid: life.pid, name: life.name, title: life.row?.title ?? "" };
}

/** Recent rate in raw units per second; for a role, the sum over its threads. */
function sparkOf(input: ViewInput, field: string, threads: readonly Thread[]): Float32Array {
  const { model, span, now_s } = input;
  const known: readonly string[] = RING_FIELDS;
  if (!known.includes(field)) return new Float32Array(0);
  const ring = ringOf(field as RingField);
  const smoothing_s = smoothingFor(model.arrivals.hz || 10);
  const end_s = Math.min(span.t1_s, now_s);
  const stretches = model.history.between(span.t0_s - 2 * smoothing_s, end_s);
  // For a role of thousands of threads, reading each thread at every sample would dominate the run
  // time.
  const picks = pickPoints(stretches, span.t0_s, end_s, POINTS);
  const n = picks.length;
  const time_s = Float64Array.from(picks, (pick) => stretches.time_s[pick] ?? Number.NaN);
  const one = new Float64Array(n);
  const sum = new Float64Array(n);
  const only = threads.length === 1;
  for (const thread of threads) {
    const until_s = thread.end_s ?? Number.POSITIVE_INFINITY;
    model.history.readAt(stretches, picks, thread.slot, ring, thread.sinceBlock, one);
    let held = 0;
    for (let i = 0; i < n; i++) {
      const value = (time_s[i] ?? 0) <= until_s ? (one[i] ?? Number.NaN) : Number.NaN;
      if (!Number.isNaN(value)) held = value;
      sum[i] = (sum[i] ?? 0) + (only ? value : held);
    }
  }
  return sparkline({ n, time_s }, sum, span.t0_s, end_s, POINTS, smoothing_s);
}

/** Threads that share a row. */
interface TableGroup {
  readonly key: ThreadKey;
  readonly kind: "thread" | "role" | "process";
  /** Depth in the tree, from 1. */
  readonly depth: number;
  /** True if the children are listed below; null without children. */
  readonly open: boolean | null;
  readonly threads: Thread[];
}

/** Sorts rows of one depth. */
type Sort = (groups: readonly TableGroup[]) => readonly TableGroup[];

/** Key of a process whose ID is still unknown. */
const UNKNOWN = "process:unknown";

/** Whether a thread has ended by a moment. */
function hasEnded(thread: Thread, now_s: number): boolean {
  return thread.end_s !== null && thread.end_s <= now_s;
}

/** The rows of the table in their order. */
function tableGroups(input: ViewInput, asked: TableRequest, sort: Sort): readonly TableGroup[] {
  const threads = listed(input, asked);
  switch (asked.group) {
    case "thread":
      return sort(Array.from(threads, (thread) => threadGroup(thread, 1)));
    case "role":
      return sort(byRole(threads, "", 1, null));
    case "process":
      return tree(threads, new Set(asked.open), sort);
  }
}

/** Tree of processes, roles below open processes, and threads below open roles. */
function tree(
  threads: Iterable<Thread>,
  open: ReadonlySet<ThreadKey>,
  sort: Sort,
): readonly TableGroup[] {
  return sort(byProcess(threads, open)).flatMap((process) => {
    if (!process.open) return [process];
    const roles = sort(byRole(process.threads, `${process.key}/`, 2, open));
    const below = roles.flatMap((role) =>
      role.open ? [role, ...sort(role.threads.map((thread) => threadGroup(thread, 3)))] : [role],
    );
    return [process, ...below];
  });
}

function* listed(input: ViewInput, { lives }: TableRequest): Generator<Thread> {
  const { model, filter, span, request } = input;
  const chosen = request.window.kind === "fixed";
  const now_s = chosen ? Math.min(span.t1_s, input.now_s) : input.now_s;
  for (const thread of model.threads.all()) {
    if (thread.seen_s > now_s) continue;
    if (chosen && hasEnded(thread, span.t0_s)) continue;
    if (lives !== "all" && hasEnded(thread, now_s) !== (lives === "exited")) continue;
    if (filter.fits(thread)) yield thread;
  }
}

function threadGroup(thread: Thread, depth: number): TableGroup {
  return { key: thread.key, kind: "thread", depth, open: null, threads: [thread] };
}

/**
 * @param open Keys of open rows; null: no children below a role. A role of one thread is shown as
 * the thread.
 */
function byRole(
  threads: Iterable<Thread>,
  prefix: string,
  depth: number,
  open: ReadonlySet<ThreadKey> | null,
): TableGroup[] {
  const roles = gathered(threads, ({ role }) => role);
  return Array.from(roles, ([role, of]): TableGroup => {
    const [only] = of;
    if (open && only && of.length === 1) return threadGroup(only, depth);
    const key = `${prefix}role:${role}`;
    return { key, kind: "role", depth, open: open?.has(key) ?? null, threads: of };
  });
}

function byProcess(threads: Iterable<Thread>, open: ReadonlySet<ThreadKey>): TableGroup[] {
  const processes = gathered<ProcessLife | null>(threads, ({ process }) => process);
  return Array.from(processes, ([process, of]): TableGroup => {
    const key = process?.key ?? UNKNOWN;
    return { key, kind: "process", depth: 1, open: open.has(key), threads: of };
  });
}

function gathered<K>(threads: Iterable<Thread>, of: (thread: Thread) => K): Map<K, Thread[]> {
  const found = new Map<K, Thread[]>();
  for (const thread of threads) {
    const key = of(thread);
    const held = found.get(key);
    if (held) held.push(thread);
    else found.set(key, [thread]);
  }
  return found;
}
