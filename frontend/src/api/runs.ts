/**
 * REST API of runs, one function per operation; the worker reads their frames. The prediction
 * service of the backend's host. Experiments run by `tidscope experiment`. REST API of traces, one
 * function per operation.
 */

import type {
  Comparison,
  Experiment,
  ExperimentChild,
  ExperimentsResponse,
  PredictionService,
  PredictionWeights,
  RecordRequest,
  RunManifest,
  RunPatch,
  RunsResponse,
  StartExperimentRequest,
  TraceAnalysis,
  TraceDetail,
  TraceDifference,
  TraceEndpoints,
  TraceHeat,
  TraceList,
  TraceOperations,
  TracesImported,
} from "../wire/generated/models";
import {
  isTraceAnalysis,
  isTraceDetail,
  isTraceDifference,
  isTraceEndpoints,
  isTraceHeat,
  isTraceList,
  isTraceOperations,
  isTracesImported,
} from "../wire/generated/traceValidators";
import {
  isComparison,
  isExperiment,
  isExperimentChild,
  isExperimentsResponse,
  isPredictionService,
  isPredictionWeights,
  isRunManifest,
  isRunsResponse,
} from "../wire/generated/validators";
import { command, request } from "./http";

/** Export formats of a run. */
export const EXPORTS = ["folder", "parquet", "csv", "trace", "pools-parquet", "pools-csv"] as const;
export type ExportFormat = (typeof EXPORTS)[number];

export function listRuns(signal?: AbortSignal): Promise<RunsResponse> {
  return request("GET", "/runs", isRunsResponse, { signal });
}

export function getRun(run: string, signal?: AbortSignal): Promise<RunManifest> {
  return request("GET", `/runs/${run}`, isRunManifest, { signal });
}

export function record(body: RecordRequest): Promise<RunManifest> {
  return request("POST", "/runs", isRunManifest, { body });
}

export function stopRecording(run: string): Promise<RunManifest> {
  return request("POST", `/runs/${run}/stop`, isRunManifest);
}

export function changeRun(run: string, body: RunPatch): Promise<RunManifest> {
  return request("PATCH", `/runs/${run}`, isRunManifest, { body });
}

/** Delete a run; it can be restored for an hour. */
export function deleteRun(run: string): Promise<void> {
  return command("DELETE", `/runs/${run}`);
}

export function restoreRun(run: string): Promise<RunManifest> {
  return request("POST", `/runs/${run}/restore`, isRunManifest);
}

/** Address of a run's frames, without a query. */
export function framesHref(run: string): string {
  return `/api/v1/runs/${run}/frames`;
}

/** Address of a download. */
export function exportHref(run: string, format: ExportFormat): string {
  return `/api/v1/runs/${run}/export?format=${format}`;
}

/** Import a run that was exported as a folder. */
export function importRun(file: Blob): Promise<RunManifest> {
  const parts = { file: { type: "application/zstd", data: file } };
  return request("POST", "/runs/import", isRunManifest, parts);
}

/** @param query As in the address of the Compare page. */
export function compareRuns(query: string, signal?: AbortSignal): Promise<Comparison> {
  return request("GET", `/compare?${query}`, isComparison, { signal });
}

export function getPredictions(signal?: AbortSignal): Promise<PredictionService> {
  return request("GET", "/predictions", isPredictionService, { signal });
}

export function getWeights(
  owner: number,
  name: string,
  signal?: AbortSignal,
): Promise<PredictionWeights> {
  return request("GET", `/predictions/${owner}/${name}`, isPredictionWeights, { signal });
}

/** Reset a model's weights; returns all models. */
export function resetModel(owner: number, name: string): Promise<PredictionService> {
  return request("POST", `/predictions/${owner}/${name}/reset`, isPredictionService);
}

/** List all experiments with their progress, newest first. */
export function listExperiments(signal?: AbortSignal): Promise<ExperimentsResponse> {
  return request("GET", "/experiments", isExperimentsResponse, { signal });
}

/** Start an experiment of a configured folder. */
export function startExperiment(body: StartExperimentRequest): Promise<ExperimentChild> {
  return request("POST", "/experiments", isExperimentChild, { body });
}

/** End the experiment that was started here. */
export function endExperiment(): Promise<void> {
  return command("DELETE", "/experiments");
}

/** Return one experiment with its figures and charts. */
export function getExperiment(id: string, signal?: AbortSignal): Promise<Experiment> {
  return request("GET", `/experiments/${id}`, isExperiment, { signal });
}

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

/** Import traces from a Jaeger JSON or OTLP JSON file. */
export function importTraces(file: Blob): Promise<TracesImported> {
  const parts = { file: { type: "application/json", data: file } };
  return request("POST", "/traces/import", isTracesImported, parts);
}
