/** Time breakdown from ledgers: seconds per state, column and role. */

import { isIdle, NO_PARTS, STATE_PARTS, type TimePart } from "./breakdown";
import { threadsIn, type ViewInput } from "./chartView";
import type { Stretches } from "./history";
import { type WaitShares, waitShares } from "./parked";
import { StateReader } from "./stateLog";
import { CELL_STATES, KINDS_OF_STATES, kindNamed, PARKED, STATES } from "./states";
import { STEP_THREADS, type Steps } from "./steps";
import { roleColour, type Thread } from "./threads";
import type { TimesRow, TimesView } from "./views";

/** Sums by state number; the index before holds the time of threads without a ledger. */
const UNLEDGERED = 0;
const SUMS = CELL_STATES;

/** Index in the sums of each part. */
const PLACES: readonly (readonly [TimePart, number])[] = [
  ...STATE_PARTS.map((part): [TimePart, number] => [
    part,
    kindNamed(part)?.number ?? STATES.findIndex(({ id }) => id === part) + 1,
  ]),
  ["unsplit", UNLEDGERED],
];

/** Threads of a role (or all shown ones), within the window. */
class RowSums {
  readonly sums = new Float64Array(SUMS);
  threads = 0;
  constructor(readonly hue: number) {}
}

/** Go through all threads once. */
export function* gatherLedgers(
  input: ViewInput,
  stretches: Stretches,
  edges: readonly number[],
): Steps<Gathered> {
  const { model } = input;
  const time_s = Float64Array.from(edges, (at) => stretches.time_s[at] ?? 0);
  const count = edges.length - 1;
  const columns = Array.from({ length: SUMS }, () => new Float64Array(count));
  const { scope, name, has } = scopeOf(input);
  const roles = new Map<string, RowSums>();
  const wholeRow = new RowSums(0);
  const growth = new ThreadGrowth(input, new StateReader(model.states, stretches, edges), time_s);
  let unledgered = 0;
  // A snapshot: between two steps, threads may be added or forgotten.
  for (const [place, thread] of [...threadsIn(input)].entries()) {
    if (place % STEP_THREADS === STEP_THREADS - 1) yield undefined;
    if (!growth.load(thread)) continue;
    let role = roles.get(thread.role);
    if (!role) {
      role = new RowSums(thread.hue);
      roles.set(thread.role, role);
    }
    role.threads++;
    const within = has(thread);
    if (within) {
      wholeRow.threads++;
      if (growth.moving.includes(UNLEDGERED)) unledgered++;
    }
    for (const number of growth.moving) {
      const values = growth.of(number);
      const sums = columns[number];
      let total = 0;
      for (let c = 0; c < count; c++) total += values[c] ?? 0;
      role.sums[number] = (role.sums[number] ?? 0) + total;
      if (!within || !sums) continue;
      wholeRow.sums[number] = (wholeRow.sums[number] ?? 0) + total;
      for (let c = 0; c < count; c++) sums[c] = (sums[c] ?? 0) + (values[c] ?? 0);
    }
  }
  const fold = input.request.fold_idle;
  const cut = cutter(model.states.present, fold);
  const rowOf = (key: string, label: string, { hue, threads, sums }: RowSums): TimesRow => ({
    key,
    name: label,
    colour: roleColour(hue),
    threads,
    ...cut((place) => sums[place] ?? 0),
  });
  const rows = Array.from(roles, ([role, sums]) => rowOf(`role:${role}`, role, sums));
  // Quantised, so that roles with similar activity do not swap places constantly.
  const busy = ({ parts }: TimesRow): number =>
    Math.round(Math.log(workOf(parts)) / Math.log(1.25));
  rows.sort((a, b) => compared(busy(b), busy(a)) || (a.name < b.name ? -1 : 1));
  const whole = rowOf("", name, wholeRow);
  return {
    scope: { scope, name },
    time_s,
    cuts: Array.from({ length: count }, (_, c) => cut((place) => columns[place]?.[c] ?? 0)),
    whole,
    roles: rows,
    absent: withoutLedger(unledgered, wholeRow.threads),
    ledger: true,
    no_ledger: null,
  };
}

/** Minus infinity, for roles without activity, equals itself. */
function compared(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** Seconds during which threads did not wait for work. */
function workOf(parts: Cut["parts"]): number {
  let sum = 0;
  for (const [part] of PLACES) {
    const seconds = parts[part];
    if (seconds > 0 && !isIdle(part)) sum += seconds;
  }
  return sum;
}

/** Split sums into parts: those that any thread of the target has been in. */
function cutter(
  present: readonly number[],
  fold: boolean,
): (sum: (place: number) => number) => Cut & { readonly folded_s: number } {
  return (sum) => {
    const parts = { ...NO_PARTS };
    let wall_s = 0;
    let folded_s = 0;
    for (const [part, place] of PLACES) {
      const seconds = sum(place);
      const known = place > 0 && place < PARKED ? present.includes(place) : seconds > 0;
      if (!known) continue;
      if (fold && isIdle(part)) {
        folded_s += seconds;
      } else {
        parts[part] = seconds;
        wall_s += seconds;
      }
    }
    return { parts, wall_s, folded_s };
  };
}

function withoutLedger(threads: number, all: number): TimesView["absent"] {
  if (threads === 0) return [];
  const whose = threads === all ? "these threads have" : `${threads} of ${all} threads have`;
  return [{ part: "unsplit", reason: `${whose} no ledger` }];
}

/** Growth of one thread's time in each state, column by column. */
class ThreadGrowth {
  /** Indices in the sums that may have grown. */
  readonly moving: number[] = [];
  /** Index of the only sum that grew; -1 if several. */
  private steady = -1;
  private readonly shares: (tid: number) => WaitShares;
  private readonly growth: readonly Float64Array[];
  private readonly widths: Float64Array;

  constructor(
    private readonly input: ViewInput,
    private readonly reader: StateReader,
    private readonly time_s: Float64Array,
  ) {
    const count = time_s.length - 1;
    this.growth = Array.from({ length: SUMS }, () => new Float64Array(count));
    this.shares = waitShares(input.model);
    this.widths = Float64Array.from(
      { length: count },
      (_, c) => (time_s[c + 1] ?? 0) - (time_s[c] ?? 0),
    );
  }

  /** Seconds per column. */
  of(number: number): Float64Array {
    return this.steady === number ? this.widths : (this.growth[number] ?? this.widths);
  }

  /** Read a thread. Return false if it did not live within the columns. */
  load(thread: Thread): boolean {
    const { reader, moving, input } = this;
    moving.length = 0;
    this.steady = -1;
    if (!reader.load(thread)) return this.loadUnledgered(thread);
    moving.push(...reader.moving);
    if (reader.steady > 0) this.steady = reader.steady;
    else {
      const fresh = thread.start_ns / 1e9 >= input.model.since_s;
      for (const number of moving) this.readState(number, fresh);
    }
    for (const kind of KINDS_OF_STATES) {
      if (moving.includes(kind.state)) this.divide(kind, this.shares(thread.tid)[kind.kind]);
    }
    return true;
  }

  private readState(number: number, fresh: boolean): void {
    const { reader, time_s } = this;
    const { values, first } = reader;
    const out = this.growth[number];
    if (!out) return;
    const place = reader.placeOf(number);
    // Before its first sample, a thread older than the attach counts as its first value.
    let before = fresh && first > 0 ? 0 : (values[place + first] ?? 0);
    out.fill(0);
    for (let e = Math.max(1, first); e < time_s.length; e++) {
      const value = values[place + e] ?? 0;
      out[e - 1] = value > before ? (value - before) / 1e9 : 0;
      before = value;
    }
  }

  /** Take a share of a state's time as one of its kind. */
  private divide(
    { state, number }: { readonly state: number; readonly number: number },
    share: number,
  ): void {
    const { moving, growth } = this;
    if (!(share > 0)) return;
    const waits = this.of(state);
    const own = growth[number];
    const rest = growth[state];
    if (!own || !rest) return;
    for (let c = 0; c < waits.length; c++) {
      const seconds = waits[c] ?? 0;
      own[c] = share * seconds;
      rest[c] = (1 - share) * seconds;
    }
    moving.push(number);
    this.steady = -1;
  }

  private loadUnledgered(thread: Thread): boolean {
    const { input, time_s, moving, growth } = this;
    const start_s = thread.start_ns / 1e9;
    const from = start_s >= input.model.since_s ? start_s : thread.seen_s;
    const noted = thread.end_s ?? Number.POSITIVE_INFINITY;
    const to = Math.min(noted, start_s + (thread.life_s ?? Number.POSITIVE_INFINITY));
    const out = growth[UNLEDGERED];
    if (!out || from >= (time_s.at(-1) ?? 0) || noted <= (time_s[0] ?? 0)) return false;
    for (let c = 0; c < out.length; c++) {
      const a = Math.max(from, time_s[c] ?? 0);
      const b = Math.min(to, time_s[c + 1] ?? 0);
      out[c] = Math.max(0, b - a);
    }
    moving.push(UNLEDGERED);
    return true;
  }
}

/** Minimum length of the last column, in seconds. */
const SHORT_S = 0.25;

/** Time of threads by part; NaN if unavailable. */
export interface Cut {
  readonly wall_s: number;
  readonly parts: Readonly<Record<TimePart, number>>;
}

/** Data of the chart. */
export interface Gathered {
  readonly scope: Pick<TimesView, "scope" | "name">;
  readonly time_s: Float64Array;
  /** One less than the number of times: each cut spans two adjacent times. */
  readonly cuts: readonly Cut[];
  readonly whole: TimesRow;
  readonly roles: readonly TimesRow[];
  readonly absent: TimesView["absent"];
  /** Whether the data comes from ledgers; if not, the reason, if known. */
  readonly ledger: boolean;
  readonly no_ledger: string | null;
}

/**
 * Samples at which columns begin and end: the first at or after each multiple of the width. Columns
 * therefore stay in place when the window slides, and growth and wall time cover the same samples.
 */
export function edgesOf({ n, time_s }: Pick<Stretches, "n" | "time_s">, width_s: number): number[] {
  const edges: number[] = [];
  let column = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < n; i++) {
    // Times are sums of doubles: one nominally on the edge may be off by rounding.
    const now = Math.floor((time_s[i] ?? 0) / width_s + 1e-6);
    if (now > column) edges.push(i);
    column = now;
  }
  const last = edges.at(-1) ?? 0;
  if ((time_s[n - 1] ?? 0) - (time_s[last] ?? 0) >= SHORT_S) edges.push(n - 1);
  return edges;
}

/**
 * Scope of the selection: a thread, a role, a process of a group, or everything that matches the
 * filter.
 */
export function scopeOf({ request, model }: ViewInput): Pick<TimesView, "scope" | "name"> & {
  readonly has: (thread: Thread) => boolean;
} {
  const { selected } = request;
  if (selected?.startsWith("role:")) {
    const role = selected.slice("role:".length);
    return { scope: "role", name: role, has: (thread) => thread.role === role };
  }
  if (selected?.startsWith("process:")) {
    for (const { key, name, pid } of model.levels.processes()) {
      if (key !== selected) continue;
      return {
        scope: "member",
        name: `${name} (${pid})`,
        has: ({ process }) => process?.key === key,
      };
    }
  } else if (selected !== null) {
    for (const thread of model.threads.all()) {
      if (thread.key !== selected) continue;
      const name = `${thread.name} (${thread.tid})`;
      return { scope: "thread", name, has: (other) => other.key === selected };
    }
  }
  const name = request.filter === "" ? "all threads" : "threads that match the filter";
  return { scope: "process", name, has: () => true };
}
