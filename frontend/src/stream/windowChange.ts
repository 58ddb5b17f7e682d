/**
 * Changes between the visible window and an equally long time before it, by role: time breakdown
 * and data volumes. Times come from the state ledger, or else from counters.
 */

import type { RingField } from "./chartSpecs";
import type { ViewInput } from "./chartView";
import { fieldLabel, shownRate } from "./format";
import { growthWithin, lifeWithin, statesWithin, type WaitShares, waitShares } from "./parked";
import { GROUP_NAMES, kindOfState, STATES, type StateGroup } from "./states";
import { finished, STEP_THREADS, type Steps } from "./steps";
import { roleColour, type Thread } from "./threads";
import type { ThreadKey } from "./viewRequest";
import type { ShownUnit } from "./views";
import type { Span } from "./window";

/** Category of time: a group of states, or the unsplit rest without a ledger. */
export type Reason = StateGroup | "unsplit";

/** Difference of one figure of a role. */
export interface Change {
  /** "role:NAME" */
  readonly key: ThreadKey;
  readonly role: string;
  readonly colour: number;
  readonly label: string;
  readonly unit: ShownUnit;
  readonly before: number;
  readonly after: number;
}

/** Average number of threads of a role in one category. */
export interface TimeChange extends Change {
  readonly reason: Reason;
}

export interface ChangeView {
  readonly state: "ok" | "waiting";
  /** Why a comparison is impossible. */
  readonly reason: string;
  readonly before: Span;
  readonly after: Span;
  readonly ledger: boolean;
  /** Largest difference first. */
  readonly times: readonly TimeChange[];
  /** Bytes and switches per second, and threads; largest relative difference first. */
  readonly figures: readonly Change[];
}

/** Minimum length of a compared span, in seconds. */
const MIN_S = 1;
/** Minimum change, in threads on average. */
const MIN_THREADS = 0.005;
/** Minimum change, relative to the greater value. */
const MIN_SHARE = 0.05;
/** Minimum figure that matters: bytes and switches per second, threads. */
const MIN_FIGURE: Readonly<Partial<Record<ShownUnit, number>>> = {
  "bytes/s": 1024,
  "1/s": 1,
  threads: 0.5,
};
const MAX_ROWS = 40;

const FIGURES: readonly RingField[] = [
  "disk_read_bytes",
  "disk_write_bytes",
  "net_read_bytes",
  "net_write_bytes",
  "voluntary_switches",
  "involuntary_switches",
];

/** The span of equal length before a span, as far as the past is known. */
export function spanBefore({ t0_s, t1_s }: Span, since_s: number): Span {
  return { t0_s: Math.max(since_s, t0_s - (t1_s - t0_s)), t1_s: t0_s };
}

/** Compare the window with the time before. */
export function windowChange(input: ViewInput): ChangeView {
  return finished(changeSteps(input));
}

/** `windowChange` in steps. */
export function* changeSteps(input: ViewInput): Steps<ChangeView> {
  const { model, now_s, span } = input;
  const since_s = Math.max(model.since_s, model.history.from_s);
  const after = { t0_s: Math.max(span.t0_s, since_s), t1_s: Math.min(span.t1_s, now_s) };
  const before = spanBefore(after, since_s);
  const ledger = model.states.there;
  const none = { before, after, ledger, times: [], figures: [] } as const;
  if (!(after.t1_s - after.t0_s >= MIN_S)) {
    return { ...none, state: "waiting", reason: "The window is too short to compare." };
  }
  if (!(before.t1_s - before.t0_s >= MIN_S)) {
    const reason =
      "Nothing is known of the time before this window: choose a later or shorter one.";
    return { ...none, state: "waiting", reason };
  }
  return { ...none, state: "ok", reason: "", ...(yield* changesBetween(input, before, after)) };
}

/** Changes from one span to another, each figure per second. */
export function* changesBetween(
  input: ViewInput,
  before: Span,
  after: Span,
): Steps<Pick<ChangeView, "times" | "figures">> {
  return changesOf(yield* sumsOf(input, before), yield* sumsOf(input, after));
}

/** Figures of a role over a span, each per second. */
interface RoleSums {
  readonly colour: number;
  /** Thread-seconds per second: threads on average. */
  readonly times: Map<Reason, number>;
  readonly figures: Map<RingField, number>;
  threads: number;
}

type Sums = ReadonlyMap<string, RoleSums>;

function* sumsOf({ model, filter }: ViewInput, { t0_s, t1_s }: Span): Steps<Sums> {
  const roles = new Map<string, RoleSums>();
  const seconds = t1_s - t0_s;
  const stretches = model.states.history.between(t0_s, t1_s);
  const shares = waitShares(model);
  // A snapshot: between two steps, threads may be added or forgotten.
  for (const [place, thread] of [...model.threads.all()].entries()) {
    if (place % STEP_THREADS === STEP_THREADS - 1) yield undefined;
    if (!filter.fits(thread)) continue;
    const wall_s = lifeWithin(model, thread, t0_s, t1_s);
    if (wall_s <= 0) continue;
    let role = roles.get(thread.role);
    if (!role) {
      const colour = roleColour(thread.roleIndex);
      role = { colour, times: new Map(), figures: new Map(), threads: 0 };
      roles.set(thread.role, role);
    }
    const states = statesWithin(model.states, stretches, thread);
    const times = states
      ? timesOfStates(states, shares(thread.tid))
      : timesOfCounters(model, thread, { t0_s, t1_s }, wall_s);
    for (const [reason, spent_s] of times) add(role.times, reason, spent_s / seconds);
    for (const field of FIGURES) {
      const grown = growthWithin(model, thread, field, t0_s, t1_s);
      if (!Number.isNaN(grown)) add(role.figures, field, grown / seconds);
    }
    role.threads += wall_s / seconds;
  }
  return roles;
}

function add<K>(sums: Map<K, number>, key: K, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

function* timesOfStates(seconds: Float64Array, shares: WaitShares): Generator<[Reason, number]> {
  for (const { number, group } of STATES) {
    const spent_s = seconds[number] ?? 0;
    const kind = kindOfState(number);
    const share = kind ? shares[kind.kind] : 0;
    if (kind && share > 0) yield [kind.group, share * spent_s];
    yield [group, (1 - share) * spent_s];
  }
}

function* timesOfCounters(
  model: ViewInput["model"],
  thread: Thread,
  { t0_s, t1_s }: Span,
  wall_s: number,
): Generator<[Reason, number]> {
  const grown = (field: RingField): number => {
    const ns = growthWithin(model, thread, field, t0_s, t1_s);
    return Number.isNaN(ns) ? 0 : ns / 1e9;
  };
  const spent: readonly (readonly [Reason, number])[] = [
    ["running", grown("cpu_run_ns")],
    ["runnable", grown("cpu_delay_ns")],
    ["disk", grown("blkio_delay_ns")],
  ];
  for (const [reason, spent_s] of spent) yield [reason, spent_s];
  yield ["unsplit", Math.max(0, wall_s - spent.reduce((sum, [, spent_s]) => sum + spent_s, 0))];
}

function changesOf(
  before: Sums | undefined,
  after: Sums | undefined,
): Pick<ChangeView, "times" | "figures"> {
  const times: TimeChange[] = [];
  const figures: Change[] = [];
  for (const role of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])) {
    const [was, is] = [before?.get(role), after?.get(role)];
    const of = { key: `role:${role}`, role, colour: (is ?? was)?.colour ?? 0 };
    for (const reason of new Set([...(was?.times.keys() ?? []), ...(is?.times.keys() ?? [])])) {
      const [from, to] = [was?.times.get(reason) ?? 0, is?.times.get(reason) ?? 0];
      if (Math.abs(to - from) < MIN_THREADS) continue;
      const unit = "threads";
      times.push({ ...of, reason, label: reasonName(reason), unit, before: from, after: to });
    }
    const threads = { before: was?.threads ?? 0, after: is?.threads ?? 0 };
    figures.push({ ...of, label: "Threads", unit: "threads", ...threads });
    for (const field of FIGURES) {
      const [from, to] = [was, is].map((sums) => shownRate(field, sums?.figures.get(field) ?? 0));
      if (!from || !to) continue;
      const values = { before: from.value, after: to.value };
      figures.push({ ...of, label: fieldLabel(field), unit: to.unit, ...values });
    }
  }
  // Time moves from one category to another: of two equal changes, work comes first.
  times.sort((a, b) => steps(b) - steps(a) || byName(a, b) || placeOf(a) - placeOf(b));
  figures.sort((a, b) => relation(b) - relation(a) || byName(a, b));
  return {
    times: times.slice(0, MAX_ROWS),
    figures: figures.filter(isChange).slice(0, MAX_ROWS),
  };
}

function isChange(change: Change): boolean {
  const most = Math.max(change.before, change.after);
  return most >= (MIN_FIGURE[change.unit] ?? 0) && relation(change) >= MIN_SHARE;
}

/** The size of a change in whole millionths: sums are off in their last bits. */
function steps(change: Change): number {
  return Math.round(1e6 * sizeOf(change));
}

/** Sort key: work first, as in legends. */
function placeOf({ reason }: TimeChange): number {
  const place = Object.keys(GROUP_NAMES).indexOf(reason);
  return place < 0 ? Number.POSITIVE_INFINITY : place;
}

function sizeOf({ before, after }: Change): number {
  return Math.abs(after - before);
}

/** The difference relative to the greater value; 0 if both are 0. */
function relation(change: Change): number {
  const most = Math.max(change.before, change.after);
  return most > 0 ? sizeOf(change) / most : 0;
}

function byName(a: Change, b: Change): number {
  return a.role === b.role ? 0 : a.role < b.role ? -1 : 1;
}

function reasonName(reason: Reason): string {
  return reason === "unsplit" ? "Other (not measured)" : GROUP_NAMES[reason];
}
