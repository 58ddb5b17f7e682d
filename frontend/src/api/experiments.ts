/** Experiments run by `tidscope experiment`. */

import type { Experiment, ExperimentsResponse } from "../wire/generated/models";
import { isExperiment, isExperimentsResponse } from "../wire/generated/validators";
import { request } from "./http";

/** List all experiments with their progress, newest first. */
export function listExperiments(signal?: AbortSignal): Promise<ExperimentsResponse> {
  return request("GET", "/experiments", isExperimentsResponse, { signal });
}

/** Return one experiment with its figures and charts. */
export function getExperiment(id: string, signal?: AbortSignal): Promise<Experiment> {
  return request("GET", `/experiments/${id}`, isExperiment, { signal });
}
