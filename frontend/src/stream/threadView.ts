/** The panel of one thread: its ledger, which adds up, and the durations of its stays. */

import { isIdle, STATE_PARTS, type StatePart, stateOf } from "./breakdown";
import type { ViewInput } from "./chartView";
import { STAYS } from "./facts/facts";
import { BUCKETS, quantile } from "./facts/stayHistogram";
import { type WaitShares, waitShares } from "./parked";
import { StateReader } from "./stateLog";
import { kindNamed, kindOfState, stateNumbered } from "./states";
import type { Thread } from "./threads";
import type { ThreadKey } from "./viewRequest";

/** Histogram of a thread's stay durations per state. */
export interface StaysView {
  /** Number of stays that ended within the window. */
  readonly count: number;
  /** Float64[BUCKETS]: counts by powers of two; see facts/stayHistogram.ts. */
  readonly buckets: Float64Array;
  /** Median in seconds, interpolated within a bucket. */
  readonly p50_s: number;
  readonly p95_s: number;
  readonly p99_s: number;
}

/** A state of the thread. */
export interface LedgerRow {
  readonly part: StatePart;
  readonly idle: boolean;
  /** Within the window, and since attach or the thread's start, ns. */
  readonly window_ns: number;
  readonly total_ns: number;
  /** Stays; null if none ended within the window, or unknown. */
  readonly stays: StaysView | null;
}

/** Sum of a ledger's rows, and the clock time. */
export interface LedgerSum {
  readonly t0_s: number;
  readonly t1_s: number;
  readonly sum_ns: number;
  readonly wall_ns: number;
}

export interface ThreadView {
  readonly key: ThreadKey;
  readonly tid: number;
  readonly name: string;
  readonly role: string;
  readonly colour: number;
  readonly attached_unix_ms: number;
  /** Visible range, in seconds since attach. */
  readonly from_s: number;
  readonly to_s: number;
  /** Process ID of a single-process target; null for a group. */
  readonly pid: number | null;
  /** Start and end in seconds since attach; null while alive. */
  readonly start_s: number;
  readonly end_s: number | null;
  /** State at the newest visible instant, and its start; null if unknown or ended. */
  readonly current: { readonly part: StatePart; readonly since_s: number } | null;
  /** No context switch since attach: the state is from /proc. */
  readonly unswitched: boolean;
  /** Why there is no ledger; "" if there is one. */
  readonly reason: string;
  /** Rows in chart order. */
  readonly rows: readonly LedgerRow[];
  readonly window: LedgerSum;
  readonly total: LedgerSum;
}

const NO_SUM: LedgerSum = { t0_s: 0, t1_s: 0, sum_ns: 0, wall_ns: 0 };

/** View of the selected thread; null if none. */
export function threadView(input: ViewInput): ThreadView | null {
  const { model, request, target } = input;
  const thread = model.threads.withKey(request.selected);
  if (!thread) return null;
  const { key, tid, name, role, colour, start_ns, end_s, life_s } = thread;
  const start_s = start_ns / 1e9;
  const { t0_s, t1_s } = input.span;
  const identity = {
    ...{ from_s: t0_s, to_s: Math.min(t1_s, input.now_s) },
    pid: target === null || target.group ? null : target.process.pid,
    ...{ key, tid, name, role, colour, start_s },
    end_s: end_s === null ? null : Math.min(end_s, start_s + (life_s ?? Number.POSITIVE_INFINITY)),
    attached_unix_ms: target ? target.attached_unix_us / 1000 : model.unix_ms - 1000 * model.now_s,
  };
  const ledger = readLedger(input, thread);
  if (!ledger) {
    const reason = model.states.there
      ? "This thread has no ledger within the window"
      : (target?.source.ledger_reason ?? "This target has no ledger of states");
    const none = { current: null, unswitched: false, rows: [], window: NO_SUM, total: NO_SUM };
    return { ...identity, ...none, reason };
  }
  return { ...identity, ...ledger, reason: "" };
}

type Ledger = Pick<ThreadView, "current" | "unswitched" | "rows" | "window" | "total">;

function readLedger(input: ViewInput, thread: Thread): Ledger | null {
  const { model, span, now_s } = input;
  const { states } = model;
  const stretches = states.history.between(span.t0_s, Math.min(span.t1_s, now_s));
  const reader = new StateReader(states, stretches);
  if (!reader.loadAll(thread)) return null;
  const { first } = reader;
  const last = reader.n - 1;
  const t0_s = reader.heldAt(first);
  const t1_s = reader.heldAt(last);
  const { number, since_s } = reader.currentAt(last);
  const exit_s = thread.start_ns / 1e9 + (thread.life_s ?? Number.POSITIVE_INFINITY);
  const end_s = Math.min(t1_s, exit_s, thread.end_s ?? Number.POSITIVE_INFINITY);
  const born_s = thread.start_ns / 1e9;
  // A thread born within the window began with zero.
  const fresh = first > 0 && born_s >= model.since_s;
  const shares = waitShares(model)(thread.tid);
  const window_ns = new Map<number, number>();
  const total_ns = new Map<number, number>();
  for (const state of states.present) {
    const total = Math.round(reader.at(state, last));
    const before = fresh ? 0 : Math.round(reader.at(state, first));
    window_ns.set(state, Math.max(0, total - before));
    total_ns.set(state, total);
  }
  const buckets = staysOf(input, thread.tid);
  const rows = STATE_PARTS.flatMap((part): LedgerRow[] => {
    const own = kindNamed(part);
    const state = own?.state ?? stateOf(part)?.number ?? 0;
    const kind = kindOfState(state);
    const ofKind = kind ? shares[kind.kind] : 0;
    const share = own ? ofKind : 1 - ofKind;
    const total = Math.round(share * (total_ns.get(state) ?? 0));
    if (total === 0) return [];
    const stays = own ? null : staysView(buckets.get(state));
    const within = Math.round(share * (window_ns.get(state) ?? 0));
    return [{ part, idle: isIdle(part), window_ns: within, total_ns: total, stays }];
  });
  return {
    current: currentOf(number, since_s, shares),
    unswitched: states.unswitchedUntil(thread) > (stretches.time_s[last] ?? 0),
    rows,
    window: sumOf(rows, "window_ns", fresh ? born_s : t0_s, end_s),
    total: sumOf(rows, "total_ns", Math.max(0, born_s), end_s),
  };
}

function currentOf(number: number, since_s: number, shares: WaitShares): ThreadView["current"] {
  const state = stateNumbered(number);
  if (!state) return null;
  const kind = kindOfState(number);
  return { part: kind && shares[kind.kind] > 0.5 ? kind.kind : state.id, since_s };
}

function sumOf(
  rows: readonly LedgerRow[],
  which: "window_ns" | "total_ns",
  t0_s: number,
  t1_s: number,
): LedgerSum {
  const sum_ns = rows.reduce((sum, row) => sum + row[which], 0);
  return { t0_s, t1_s, sum_ns, wall_ns: Math.round(1e9 * t1_s) - Math.round(1e9 * t0_s) };
}

/** Stays that ended within the window, by state number and bucket. */
function staysOf({ model, span, now_s }: ViewInput, tid: number): Map<number, Float64Array> {
  const { stays } = model.facts;
  const window = stays.window(span.t0_s, Math.min(span.t1_s, now_s));
  const found = new Map<number, Float64Array>();
  for (const slot of stays.all()) {
    if (stays.key(slot, STAYS.tid) !== tid) continue;
    const grown = stays.grown(window, slot, STAYS.count);
    if (grown === 0) continue;
    const state = stays.key(slot, STAYS.state);
    const buckets = found.get(state) ?? new Float64Array(BUCKETS);
    found.set(state, buckets);
    const bucket = Math.min(BUCKETS - 1, stays.key(slot, STAYS.bucket));
    buckets[bucket] = (buckets[bucket] ?? 0) + grown;
  }
  return found;
}

function staysView(buckets: Float64Array | undefined): StaysView | null {
  if (!buckets) return null;
  const at = (part: number) => quantile(buckets, part);
  const count = buckets.reduce((sum, each) => sum + each, 0);
  return { count, buckets, p50_s: at(0.5), p95_s: at(0.95), p99_s: at(0.99) };
}
