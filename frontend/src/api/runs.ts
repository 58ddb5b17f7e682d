/** REST API of runs, one function per operation; the worker reads their frames. */

import { bytesHref } from "../base/source";
import type {
  Comparison,
  RecordRequest,
  RunManifest,
  RunPatch,
  RunsResponse,
} from "../wire/generated/models";
import { isComparison, isRunManifest, isRunsResponse } from "../wire/generated/validators";
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
  return bytesHref(`/runs/${run}/frames`);
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
