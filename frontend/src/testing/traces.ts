/** Traces for component tests: a shop that queries a database and a cache. */

import { vi } from "vitest";
import type {
  OperationRank,
  RunSummary,
  RunsResponse,
  SpanThread,
  TraceAnalysis,
  TraceDetail,
  TraceDifference,
  TraceEndpoints,
  TraceHeat,
  TraceOperation,
  TraceSpan,
  TraceSummary,
} from "../wire/generated/models";
import { FakeBackend } from "./backend";
import { TestPage } from "./TestPage";

export const MS = 1_000_000;
export const BEGAN_NS = 1_700_000_000_000 * MS;
export const GET: TraceOperation = { service: "shop", operation: "GET /" };
export const SQL: TraceOperation = { service: "db", operation: "SQL" };
export const CACHE: TraceOperation = { service: "cache", operation: "get" };
export const ENDPOINT = `/traces?service=${GET.service}&operation=${encodeURIComponent("GET /")}`;
const QUANTILES = { p50_ns: 100 * MS, p95_ns: 200 * MS, p99_ns: 300 * MS };

export function traceId(number: number): string {
  return number.toString(16).padStart(32, "0");
}

export function spanId(number: number): string {
  return number.toString(16).padStart(16, "0");
}

function rank(operation: TraceOperation, share: number): OperationRank {
  return {
    ...operation,
    p50_exclusive_ns: share * 100 * MS,
    p95_exclusive_ns: share * 200 * MS,
    share,
    traces: 10,
    saving_ns: share * 50 * MS,
    drag_ns: share * 60 * MS,
    slack_ns: 0,
    error_share: 0,
  };
}

/**
 * Ten requests of 100 ms on average: 60 in the database, 30 in the shop itself, 10 in the cache.
 */
export function analysis(changes: Partial<TraceAnalysis> = {}): TraceAnalysis {
  return {
    traces: 10,
    omitted: 0,
    skewed: 0,
    dropped: 0,
    duration: { ...QUANTILES, histogram: { bounds_ns: [MS, 300 * MS], counts: [10] } },
    tree: {
      name: [GET, SQL, CACHE],
      parent: [-1, 0, 0],
      inclusive_ns: [1000 * MS, 600 * MS, 100 * MS],
      exclusive_ns: [300 * MS, 600 * MS, 100 * MS],
      count: [10, 10, 4],
      exemplars: [[traceId(1), traceId(4)], [traceId(2)], [traceId(3)]],
    },
    ranking: [rank(SQL, 0.6), rank(GET, 0.3), rank(CACHE, 0.1)],
    errors: [],
    anomalies: [],
    reference: 0,
    projection: null,
    ...changes,
  };
}

/** The database took 20 ms more of each request, the cache 5 ms less. */
export function difference(changes: Partial<TraceDifference> = {}): TraceDifference {
  return {
    base: { traces: 10, quantiles: QUANTILES },
    other: { traces: 5, quantiles: QUANTILES },
    tree: {
      name: [GET, SQL, CACHE],
      parent: [-1, 0, 0],
      base_inclusive_ns: [100 * MS, 60 * MS, 10 * MS],
      other_inclusive_ns: [115 * MS, 80 * MS, 5 * MS],
      base_exclusive_ns: [30 * MS, 60 * MS, 10 * MS],
      other_exclusive_ns: [30 * MS, 80 * MS, 5 * MS],
      exemplars: [[traceId(1), traceId(4)], [traceId(2)], [traceId(3)]],
    },
    ...changes,
  };
}

/** A request in a list. */
export function listed(number: number, changes: Partial<TraceSummary> = {}): TraceSummary {
  return {
    trace_id: traceId(number),
    ...GET,
    start_ns: BEGAN_NS + number * 1000 * MS,
    duration_ns: number * 10 * MS,
    spans: 3,
    services: 3,
    errors: 0,
    on_path_ns: null,
    ...changes,
  };
}

/** Two operations by three requests; the second request began first but was the slowest. */
export function heat(): TraceHeat {
  const cell = (operation: TraceOperation, ns: number) =>
    ns === 0 ? [] : [{ chain: [GET, operation], ns }];
  const times = [
    [50 * MS, 5 * MS, 80 * MS],
    [0, 1 * MS, 0],
  ];
  return {
    operations: [SQL, CACHE],
    traces: [listed(2), listed(1), listed(3)],
    times_ns: times,
    chains: times.map((row, at) => row.map((ns) => cell(at === 0 ? SQL : CACHE, ns))),
  };
}

/** A span of the trace below. */
export function span(
  number: number,
  parent: number,
  operation: TraceOperation,
  [from_ms, to_ms]: readonly [from: number, to: number],
  changes: Partial<TraceSpan> = {},
): TraceSpan {
  return {
    span_id: spanId(number),
    parent_id: parent === 0 ? "" : spanId(parent),
    ...operation,
    start_ns: BEGAN_NS + from_ms * MS,
    duration_ns: (to_ms - from_ms) * MS,
    kind: "internal",
    error: false,
    pid: 42,
    thread_id: null,
    attributes: {},
    ...changes,
  };
}

/** Measurements of a 60 ms span whose thread waited 50 ms for a lock. */
export function thread(changes: Partial<SpanThread> = {}): SpanThread {
  return {
    span_id: spanId(2),
    target_id: "t-42-0123abcd",
    run_id: null,
    pid: 42,
    tid: 43,
    thread_name: "worker-3",
    joined_by: "thread",
    own_ns: 60 * MS,
    parts: [
      { reason: "locks", ns: 50 * MS },
      { reason: "running", ns: 10 * MS },
    ],
    coverage: 0.9,
    locks: [
      {
        ...{ name: "cache.mu", kind: "mutex", source: "futex", wait_ns: 50 * MS, waits: 2 },
        ...{ over_ns: 1000 * MS, woken_by: "flusher" },
      },
    ],
    note: "",
    ...changes,
  };
}

/**
 * A request of 100 ms: the database from 20 to 80 ms, in parallel the cache, which is off the
 * critical path.
 */
export function detail(changes: Partial<TraceDetail> = {}): TraceDetail {
  const part = (number: number, from_ms: number, to_ms: number) => ({
    span_id: spanId(number),
    start_ns: BEGAN_NS + from_ms * MS,
    end_ns: BEGAN_NS + to_ms * MS,
  });
  return {
    trace_id: traceId(2),
    spans: [
      span(1, 0, GET, [0, 100]),
      span(2, 1, SQL, [20, 80], { thread_id: 43, attributes: { "db.name": "stock" } }),
      span(3, 1, CACHE, [30, 50], { error: true }),
    ],
    path: [part(1, 0, 20), part(2, 20, 80), part(1, 80, 100)],
    skew: { truncated: 0, dropped: 0 },
    threads: [
      thread(),
      thread({
        ...{ span_id: spanId(1), tid: null, thread_name: null, joined_by: "process" },
        ...{ own_ns: 40 * MS, parts: [{ reason: "running", ns: 40 * MS }], locks: [] },
      }),
    ],
    ...changes,
  };
}

/** One endpoint with ten requests. */
export function endpoints(changes: Partial<TraceEndpoints> = {}): TraceEndpoints {
  return {
    endpoints: [{ ...GET, traces: 10, errors: 1, ...QUANTILES, last_ns: BEGAN_NS }],
    received: {
      ...{ spans: 30, traces: 10, dropped: 0, rejected: 0, expired: 0, bytes: 4096 },
      ...{ refused: 0, http_port: null, grpc_port: null },
    },
    ...changes,
  };
}

export function runsOf(...runs: readonly RunSummary[]): RunsResponse {
  return {
    runs: [...runs],
    deleted: [],
    damaged: [],
    bytes: 0,
    free_bytes: 1e12,
    retention: { max_age_s: null, max_bytes: null },
  };
}

export function tracesBackend(): FakeBackend {
  const backend = new FakeBackend();
  backend.on("GET /traces/endpoints", () => endpoints());
  backend.on("GET /traces/analysis", () => analysis());
  backend.on("GET /traces/difference", () => difference());
  backend.on("GET /traces/heat", () => heat());
  backend.on("GET /traces", () => ({ traces: [listed(1), listed(2)] }));
  backend.on(`GET /traces/${traceId(2)}`, () => detail());
  backend.on("GET /runs", () => runsOf());
  return backend;
}

/** Open an address of the Traces page, and wait until its first answers are shown. */
export async function openTraces(address: string, backend = tracesBackend()): Promise<TestPage> {
  // Lazily loaded pages, loaded in advance.
  await Promise.all([
    import("../features/traces/TracesPage"),
    import("../features/trace/TracePage"),
  ]);
  const page = await TestPage.open(address, { backend });
  await vi.dynamicImportSettled();
  await page.settle();
  return page;
}
