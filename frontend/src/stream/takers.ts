/** CPU competitors: run-queue delay within the visible window, by what ran meanwhile. */

import type { ViewInput } from "./chartView";
import { TAKERS } from "./facts/facts";
import {
  type FactsState,
  leadingRole,
  ledgerState,
  type Outside,
  outsideParties,
  type Party,
} from "./facts/parties";
import { HERE, type Placed } from "./facts/places";
import type { TargetModel } from "./targetModel";

export interface TakerRow extends Placed {
  readonly key: string;
  /**
   * own: other threads of the target; idle: the CPU was idle while the thread was not yet there.
   */
  readonly kind: "own" | "process" | "kernel" | "idle" | "unknown";
  readonly name: string;
  /** Thread-seconds of waiting per second caused by it. */
  readonly delay: number;
  /** Share of the attributed delay. */
  readonly share: number;
  /** Number of waiting threads of the target, and the role that waited longest. */
  readonly threads: number;
  readonly role: string;
}

/** Effect of the cgroup's CPU limit within the window. */
export interface CgroupView {
  /** CPU limit in cores; null if none. */
  readonly limit: number | null;
  readonly gomaxprocs: number | null;
  readonly periods: number;
  readonly throttled: number;
  /** Seconds per second of throttling, summed over its CPUs. */
  readonly throttled_share: number;
}

export interface TakersView extends FactsState {
  readonly seconds: number;
  /** Longest first. */
  readonly rows: readonly TakerRow[];
  /** Thread-seconds per second, over all rows. */
  readonly delay: number;
  /** CPU limit of the cgroup; null if unknown. */
  readonly cgroup: CgroupView | null;
  /** CPUs per second stolen by the hypervisor for other guests; NaN if unknown. */
  readonly steal: number;
  readonly omitted: number;
}

/** Maximum number of rows sent; the rest are small. */
const MAX_ROWS = 100;

/** Identity of a CPU taker, without figures. */
type Taker = Pick<TakerRow, "key" | "kind" | "name" | "where" | "detail">;

const IDLE: Taker = { ...HERE, key: "idle:", kind: "idle", name: "nothing (idle CPU)" };
const UNKNOWN: Taker = { ...HERE, key: "unknown:", kind: "unknown", name: "not known" };

interface Sums {
  readonly taker: Taker;
  ns: number;
  readonly tids: Set<number>;
  readonly roles: Map<string, number>;
}

export function takersView(input: ViewInput): TakersView {
  const { model, filter } = input;
  const threads = model.threads.byTid;
  const { rows, ...sums } = takersOf(input, (tid) => {
    const thread = threads.get(tid);
    return thread === undefined || filter.fits(thread);
  });
  const { omitted } = model.facts.takers;
  const machine = { cgroup: cgroupView(input), steal: stealOf(input), omitted };
  return { ...sums, ...machine, rows: rows.slice(0, MAX_ROWS) };
}

/** Run-queue delay of some threads, by what ran meanwhile. */
export function takersOf(
  input: ViewInput,
  counts: (tid: number) => boolean,
): Pick<TakersView, "state" | "reason" | "seconds" | "rows" | "delay"> {
  const { model, span, now_s } = input;
  const { takers } = model.facts;
  const window = takers.window(span.t0_s, Math.min(span.t1_s, now_s));
  const { seconds } = window;
  const base = ledgerState(input, window);
  if (base.state !== "ok") return { ...base, seconds, rows: [], delay: 0 };
  const threads = model.threads.byTid;
  const own_pids = model.levels.pids(input.target);
  const outside = outsideParties(
    input,
    Array.from(takers.all(), (slot) => takerOutside(model, slot)),
  );
  const all = new Map<string, Sums>();
  let total_ns = 0;
  for (const slot of takers.all()) {
    const tid = takers.key(slot, TAKERS.tid);
    if (!counts(tid)) continue;
    const ns = takers.grown(window, slot, TAKERS.ns);
    if (ns === 0) continue;
    const taker = takerOf(model, slot, own_pids, outside);
    let sums = all.get(taker.key);
    if (!sums) {
      sums = { taker, ns: 0, tids: new Set(), roles: new Map() };
      all.set(taker.key, sums);
    }
    total_ns += ns;
    sums.ns += ns;
    sums.tids.add(tid);
    const role = threads.get(tid)?.role ?? "";
    sums.roles.set(role, (sums.roles.get(role) ?? 0) + ns);
  }
  const rows = Array.from(all.values(), ({ taker, ns, tids, roles }): TakerRow => {
    const role = leadingRole(roles);
    const share = ns / total_ns;
    return { ...taker, delay: ns / 1e9 / seconds, share, threads: tids.size, role };
  });
  rows.sort((a, b) => b.delay - a.delay || (a.key < b.key ? -1 : 1));
  return { ...base, seconds, rows, delay: total_ns / 1e9 / seconds };
}

function takerOf(
  model: TargetModel,
  slot: number,
  own_pids: ReadonlySet<number>,
  partyOf: (one: Outside) => Party,
): Taker {
  const one = takerOutside(model, slot);
  if (one.pid > 0 && own_pids.has(one.pid)) return ownTaker(model, one.pid);
  // Process 0 is the kernel's idle task, or unknown: see the protocol.
  if (one.pid === 0) return one.kernel ? IDLE : UNKNOWN;
  const { key, name, where, detail } = partyOf(one);
  return { key, kind: one.kernel ? "kernel" : "process", name, where, detail };
}

function takerOutside({ facts: { takers } }: TargetModel, slot: number): Outside {
  return {
    pid: takers.key(slot, TAKERS.pid),
    party: takers.key(slot, TAKERS.party),
    kernel: takers.key(slot, TAKERS.kernel) === 1,
    name: takers.text(slot, TAKERS.name),
  };
}

/** Threads of the target; in a group, those of its processes of one name. */
function ownTaker({ levels }: TargetModel, pid: number): Taker {
  if (!levels.grouped) return { ...HERE, key: "own", kind: "own", name: "this process" };
  const name = levels.processWith(pid)?.name ?? `process ${pid}`;
  return { ...HERE, key: `own:${name}`, kind: "own", name };
}

/** Effect of the limit; null if the collector does not report one. */
export function cgroupView({ model, span, now_s }: ViewInput): CgroupView | null {
  const { cgroup } = model;
  const to_s = Math.min(span.t1_s, now_s);
  const from_s = Math.max(span.t0_s, model.since_s);
  const limit = cgroup.limit.at(to_s);
  const periods = cgroup.periods.grownWithin(from_s, to_s);
  if (Number.isNaN(limit) && Number.isNaN(periods)) return null;
  const throttled_us = cgroup.throttled_us.grownWithin(from_s, to_s);
  return {
    limit: Number.isNaN(limit) ? null : limit,
    gomaxprocs: numberOrNull(model.sizes.at(to_s)),
    periods: Number.isNaN(periods) ? 0 : periods,
    throttled: cgroup.throttled.grownWithin(from_s, to_s) || 0,
    throttled_share: throttled_us / 1e6 / (to_s - from_s) || 0,
  };
}

function stealOf({ model, span, now_s }: ViewInput): number {
  return model.machine.stealWithin(span.t0_s, Math.min(span.t1_s, now_s));
}

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
