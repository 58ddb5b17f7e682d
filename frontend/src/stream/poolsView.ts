/** Worker pools within the visible window: throughput, times, load, and their history. */

import type { ViewInput } from "./chartView";
import { quantile } from "./facts/stayHistogram";
import { BUCKETS, FIGURES, type Pool, QUEUE_WAIT, RESPONSE, type Reading } from "./poolLog";

type Figure = (typeof FIGURES)[number];

/** Job times in seconds; NaN if unknown, or without a job in the window. */
export interface JobTimes {
  readonly mean_s: number;
  readonly p50_s: number;
  readonly p95_s: number;
  readonly p99_s: number;
}

/** History of a pool; Float64[n] each, NaN for an unknown figure. */
export interface PoolSeries {
  /** Reading times, in seconds since attach. */
  readonly time_s: Float64Array;
  readonly size: Float64Array;
  readonly busy: Float64Array;
  readonly queue: Float64Array;
  /** Since the previous reading: finished jobs per second, and mean queue wait. */
  readonly finished_per_s: Float64Array;
  readonly submitted_per_s: Float64Array;
  readonly ait_s: Float64Array;
}

export interface PoolRow {
  readonly pool: number;
  readonly pid: number;
  /** Name of its process; empty if unknown, or for a single-process target. */
  readonly program: string;
  readonly name: string;
  readonly kind: string;
  readonly source: string;
  /** True if read within the last seconds. */
  readonly current: boolean;
  /** Size at the end of the window; NaN if unknown. */
  readonly size: number;
  readonly busy: number;
  readonly queue: number;
  /** Jobs per second over the window; NaN if unknown. */
  readonly submitted_per_s: number;
  readonly finished_per_s: number;
  readonly failed_per_s: number;
  /** Jobs since attach, up to the end of the window. */
  readonly submitted: number;
  readonly finished: number;
  readonly failed: number;
  readonly response: JobTimes;
  readonly queue_wait: JobTimes;
  readonly run_mean_s: number;
  /** Workers running jobs, as a share of the size. */
  readonly load: number;
  /** Workers without a job, on average. */
  readonly idle: number;
  /** Mean queue wait at the smallest size in the window, relative to the last size's. */
  readonly relative_ait: number;
  /** The smallest size; NaN if the size did not change. */
  readonly ait_size: number;
  readonly parks_per_s: number;
  readonly steals_per_s: number;
  readonly polls_per_s: number;
  /** Length of the evaluated window, in seconds. */
  readonly seconds: number;
  readonly series: PoolSeries;
}

export interface PoolsView {
  /** absent: no pools are reported. */
  readonly state: "ok" | "waiting" | "absent";
  readonly reason: string;
  /** Span of the series' time axis, seconds since attach. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly pools: readonly PoolRow[];
  /** The target is a group of processes: pools belong to several programs. */
  readonly several: boolean;
  readonly omitted: number;
}

/** A pool has ended if not read for this time, and for several of its typical reading intervals. */
const CURRENT_S = 5;
const CURRENT_GAPS = 3;
/** Time without a pool after which none is expected, in seconds. */
const PATIENCE_S = 4;
const MAX_ROWS = 64;
const MAX_POINTS = 240;
const NO_TIMES = { mean_s: Number.NaN, p50_s: Number.NaN, p95_s: Number.NaN, p99_s: Number.NaN };
export const NO_POOLS =
  "No pools are reported: there is no agent in the program, and it serves no figures of pools (docs/agents.md)";

export function poolsView({ model, span, now_s }: ViewInput): PoolsView {
  const t1_s = Math.min(span.t1_s, now_s);
  const base = {
    t0_s: span.t0_s,
    t1_s,
    omitted: model.pools.omitted,
    several: model.group !== null,
  };
  const pools = model.pools.all();
  if (pools.length === 0) {
    const state = now_s - model.since_s < PATIENCE_S ? "waiting" : "absent";
    return { ...base, state, reason: NO_POOLS, pools: [] };
  }
  const rows = pools.flatMap((pool) => rowOf(pool, span.t0_s, t1_s, now_s) ?? []);
  rows.sort((a, b) => order(b.finished_per_s) - order(a.finished_per_s) || a.pool - b.pool);
  return {
    ...base,
    state: rows.length > 0 ? "ok" : "waiting",
    reason: "",
    pools: rows.slice(0, MAX_ROWS),
  };
}

function order(value: number): number {
  return Number.isNaN(value) ? -1 : value;
}

/**
 * Whether a pool is current. Readings come once a second, or less often from an overloaded
 * collector.
 */
function isCurrent(readings: readonly Reading[], now_s: number): boolean {
  const [first, last] = [readings[0], readings.at(-1)];
  if (!first || !last) return false;
  const gap_s = (last.t_s - first.t_s) / Math.max(1, readings.length - 1);
  return now_s - last.t_s < Math.max(CURRENT_S, CURRENT_GAPS * gap_s);
}

/** A row; null if the pool was not read within the window. */
function rowOf(pool: Pool, t0_s: number, t1_s: number, now_s: number): PoolRow | null {
  const readings = within(pool.readings, t0_s, t1_s);
  const [first, last] = [readings[0], readings.at(-1)];
  if (!first || !last || last.t_s < t0_s) return null;
  const seconds = last.t_s - first.t_s;
  const per_s = (name: Figure) => grown(first, last, name) / seconds;
  const size = figureOf(last, "size");
  const run_s = grown(first, last, "run_ns") / 1e9;
  const finished = grown(first, last, "finished");
  const started = grown(first, last, "started");
  const { pool: number, pid, program, name, kind, source } = pool;
  return {
    ...{ pool: number, pid, program, name, kind, source, size, seconds },
    current: isCurrent(readings, now_s) || last !== pool.readings.at(-1),
    busy: figureOf(last, "busy"),
    queue: figureOf(last, "queue"),
    submitted_per_s: per_s("submitted"),
    finished_per_s: per_s("finished"),
    failed_per_s: per_s("failed"),
    submitted: figureOf(last, "submitted"),
    finished: figureOf(last, "finished"),
    failed: figureOf(last, "failed"),
    response: timesOf(first, last, RESPONSE, grown(first, last, "response_ns") / finished),
    queue_wait: timesOf(first, last, QUEUE_WAIT, grown(first, last, "queue_wait_ns") / started),
    run_mean_s: run_s / finished,
    load: loadOf(readings, run_s / seconds),
    idle: per_s("idle_ns") / 1e9,
    ...relativeAit(readings),
    parks_per_s: per_s("parks"),
    steals_per_s: per_s("steals"),
    polls_per_s: per_s("polls"),
    series: seriesOf(readings),
  };
}

/** History of a pool within a window. */
export function poolSeries(readings: readonly Reading[], t0_s: number, t1_s: number): PoolSeries {
  return seriesOf(within(readings, t0_s, t1_s));
}

/** Readings of a window, preceded by the one before. */
function within(readings: readonly Reading[], t0_s: number, t1_s: number): readonly Reading[] {
  const after = readings.findIndex(({ t_s }) => t_s > t0_s);
  const from = after < 0 ? readings.length - 1 : Math.max(0, after - 1);
  return readings.slice(from).filter(({ t_s }) => t_s <= t1_s);
}

function figureOf({ figures }: Reading, name: Figure): number {
  return figures[FIGURES.indexOf(name)] ?? Number.NaN;
}

function grown(first: Reading, last: Reading, name: Figure): number {
  return figureOf(last, name) - figureOf(first, name);
}

function timesOf(first: Reading, last: Reading, time: number, mean_ns: number): JobTimes {
  const counts = Float64Array.from(
    { length: BUCKETS },
    (_, b) => (last.times[time * BUCKETS + b] ?? 0) - (first.times[time * BUCKETS + b] ?? 0),
  );
  // Go reports runnable times of goroutines as a histogram only.
  if (!Number.isFinite(mean_ns) && !counts.some((count) => count > 0)) {
    return NO_TIMES;
  }
  const at = (part: number): number => quantile(counts, part, BUCKETS);
  return {
    mean_s: Number.isFinite(mean_ns) ? mean_ns / 1e9 : Number.NaN,
    p50_s: at(0.5),
    p95_s: at(0.95),
    p99_s: at(0.99),
  };
}

/** Busy workers as a share of the size, from the jobs' run time, or else from the readings. */
function loadOf(readings: readonly Reading[], running: number): number {
  const size = mean(readings, "size");
  return (Number.isNaN(running) ? mean(readings, "busy") : running) / size;
}

function mean(readings: readonly Reading[], name: Figure): number {
  return readings.reduce((sum, reading) => sum + figureOf(reading, name), 0) / readings.length;
}

/**
 * Average idle time of jobs (AIT: from submission to start) at the smallest size, relative to the
 * last size's. Above 1, jobs now wait less than at the smallest size.
 */
function relativeAit(readings: readonly Reading[]): Pick<PoolRow, "relative_ait" | "ait_size"> {
  const sums = new Map<number, { wait_ns: number; jobs: number }>();
  for (const [i, now] of readings.entries()) {
    const before = readings[i - 1];
    const size = figureOf(now, "size");
    if (!before || figureOf(before, "size") !== size) continue;
    const sum = sums.get(size) ?? { wait_ns: 0, jobs: 0 };
    sum.wait_ns += grown(before, now, "queue_wait_ns");
    sum.jobs += grown(before, now, "started");
    sums.set(size, sum);
  }
  const sizes = [...sums].filter(([, { jobs }]) => jobs > 0).map(([size]) => size);
  const last = readings.at(-1);
  const [smallest, size] = [Math.min(...sizes), last ? figureOf(last, "size") : Number.NaN];
  const ait = (of: number): number => {
    const { wait_ns, jobs } = sums.get(of) ?? { wait_ns: Number.NaN, jobs: 1 };
    return wait_ns / jobs;
  };
  if (!(smallest < size)) return { relative_ait: Number.NaN, ait_size: Number.NaN };
  return { relative_ait: ait(smallest) / ait(size), ait_size: smallest };
}

function seriesOf(all: readonly Reading[]): PoolSeries {
  const step = Math.ceil(all.length / MAX_POINTS);
  // The last reading is kept: the figures beside the curves refer to it.
  const readings = all.filter((_, i) => (all.length - 1 - i) % step === 0);
  const values = (name: Figure) => Float64Array.from(readings, (each) => figureOf(each, name));
  const rates = (of: (before: Reading, now: Reading) => number) =>
    Float64Array.from(readings, (now, i) => {
      const before = readings[i - 1];
      return before ? of(before, now) : Number.NaN;
    });
  const per_s = (name: Figure) =>
    rates((before, now) => grown(before, now, name) / (now.t_s - before.t_s));
  return {
    time_s: Float64Array.from(readings, ({ t_s }) => t_s),
    size: values("size"),
    busy: values("busy"),
    queue: values("queue"),
    finished_per_s: per_s("finished"),
    submitted_per_s: per_s("submitted"),
    ait_s: rates(
      (before, now) =>
        grown(before, now, "queue_wait_ns") / 1e9 / (grown(before, now, "started") || Number.NaN),
    ),
  };
}
