/** System calls of threads within the visible window, if call counting is enabled. */

import type { ViewInput } from "./chartView";
import { CALL_STAYS, CALLS } from "./facts/facts";
import type { FactWindow } from "./facts/factTable";
import { callsState, type FactsState, leadingRole } from "./facts/parties";
import { BUCKETS, quantile } from "./facts/stayHistogram";

export interface CallRow {
  readonly call: number;
  readonly name: string;
  readonly per_s: number;
  /** Thread-seconds per second in the call. */
  readonly time: number;
  readonly mean_s: number;
  /** Upper bounds from the histogram, in seconds; NaN without one. */
  readonly p50_s: number;
  readonly p95_s: number;
  readonly p99_s: number;
  readonly threads: number;
  /** Role with the most time in the call. */
  readonly role: string;
}

export interface CallsView extends FactsState {
  readonly seconds: number;
  /** Most time first. */
  readonly rows: readonly CallRow[];
  readonly omitted: number;
}

interface Sums {
  name: string;
  count: number;
  ns: number;
  readonly tids: Set<number>;
  readonly roles: Map<string, number>;
  readonly buckets: Float64Array;
}

export function callsView(input: ViewInput): CallsView {
  const { model, span, now_s } = input;
  const { calls } = model.facts;
  const window = calls.window(span.t0_s, Math.min(span.t1_s, now_s));
  const { seconds } = window;
  const base = callsState(input, window);
  const none = { ...base, seconds, rows: [], omitted: calls.omitted };
  if (base.state !== "ok") return none;
  const all = sumUp(input, window);
  addStays(input, all);
  const rows = Array.from(all, ([call, sums]): CallRow => {
    const { name, count, ns, tids, roles, buckets } = sums;
    return {
      call,
      name: name || `call ${call}`,
      per_s: count / seconds,
      time: ns / 1e9 / seconds,
      mean_s: ns / 1e9 / count,
      p50_s: quantile(buckets, 0.5),
      p95_s: quantile(buckets, 0.95),
      p99_s: quantile(buckets, 0.99),
      threads: tids.size,
      role: leadingRole(roles),
    };
  });
  rows.sort((a, b) => b.time - a.time || a.call - b.call);
  return { ...none, rows };
}

function sumUp({ model, filter }: ViewInput, window: FactWindow): Map<number, Sums> {
  const { calls } = model.facts;
  const threads = model.threads.byTid;
  const all = new Map<number, Sums>();
  for (const slot of calls.all()) {
    const tid = calls.key(slot, CALLS.tid);
    const thread = threads.get(tid);
    if (thread && !filter.fits(thread)) continue;
    const count = calls.grown(window, slot, CALLS.count);
    if (count === 0) continue;
    const ns = calls.grown(window, slot, CALLS.ns);
    const call = calls.key(slot, CALLS.call);
    let sums = all.get(call);
    if (!sums) {
      const buckets = new Float64Array(BUCKETS);
      sums = { name: "", count: 0, ns: 0, tids: new Set(), roles: new Map(), buckets };
      all.set(call, sums);
    }
    sums.name = calls.text(slot, CALLS.name) || sums.name;
    sums.count += count;
    sums.ns += ns;
    sums.tids.add(tid);
    const role = thread?.role ?? "";
    sums.roles.set(role, (sums.roles.get(role) ?? 0) + ns);
  }
  return all;
}

function addStays({ model, span, now_s }: ViewInput, all: ReadonlyMap<number, Sums>): void {
  const { call_stays } = model.facts;
  const window = call_stays.window(span.t0_s, Math.min(span.t1_s, now_s));
  for (const slot of call_stays.all()) {
    const sums = all.get(call_stays.key(slot, CALL_STAYS.call));
    if (!sums?.tids.has(call_stays.key(slot, CALL_STAYS.tid))) continue;
    const bucket = Math.min(BUCKETS - 1, call_stays.key(slot, CALL_STAYS.bucket));
    const grown = call_stays.grown(window, slot, CALL_STAYS.count);
    sums.buckets[bucket] = (sums.buckets[bucket] ?? 0) + grown;
  }
}
