/** REST API of traces, one function per operation. */

import type {
  TraceAnalysis,
  TraceDays,
  TraceDetail,
  TraceDifference,
  TraceEndpoints,
  TraceHeat,
  TraceList,
  TraceOperations,
  TracesImported,
  TraceValues,
} from "../wire/generated/models";
import {
  isTraceAnalysis,
  isTraceDays,
  isTraceDetail,
  isTraceDifference,
  isTraceEndpoints,
  isTraceHeat,
  isTraceList,
  isTraceOperations,
  isTracesImported,
  isTraceValues,
} from "../wire/generated/traceValidators";
import { request } from "./http";

/** @param query As in the route; "" for everything stored. */
export function listEndpoints(query: string, signal?: AbortSignal): Promise<TraceEndpoints> {
  return request("GET", `/traces/endpoints?${query}`, isTraceEndpoints, { signal });
}

/** Operations on the critical paths of all endpoints, ranked. */
export function rankOperations(query: string, signal?: AbortSignal): Promise<TraceOperations> {
  return request("GET", `/traces/operations?${query}`, isTraceOperations, { signal });
}

export function listTraces(query: string, signal?: AbortSignal): Promise<TraceList> {
  return request("GET", `/traces?${query}`, isTraceList, { signal });
}

export function getTrace(trace: string, signal?: AbortSignal): Promise<TraceDetail> {
  return request("GET", `/traces/${trace}`, isTraceDetail, { signal });
}

export function analyseTraces(query: string, signal?: AbortSignal): Promise<TraceAnalysis> {
  return request("GET", `/traces/analysis?${query}`, isTraceAnalysis, { signal });
}

export function compareTraces(query: string, signal?: AbortSignal): Promise<TraceDifference> {
  return request("GET", `/traces/difference?${query}`, isTraceDifference, { signal });
}

export function traceHeat(query: string, signal?: AbortSignal): Promise<TraceHeat> {
  return request("GET", `/traces/heat?${query}`, isTraceHeat, { signal });
}

/** An operation's own time by the value of an attribute. */
export function traceValues(query: string, signal?: AbortSignal): Promise<TraceValues> {
  return request("GET", `/traces/values?${query}`, isTraceValues, { signal });
}

export function traceDays(query: string, signal?: AbortSignal): Promise<TraceDays> {
  return request("GET", `/traces/days?${query}`, isTraceDays, { signal });
}

/** Import traces from a Jaeger JSON or OTLP JSON file. */
export function importTraces(file: Blob): Promise<TracesImported> {
  const parts = { file: { type: "application/json", data: file } };
  return request("POST", "/traces/import", isTracesImported, parts);
}
