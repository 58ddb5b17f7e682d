/** Experiments that `tidscope experiment` carries out. */

import type { Experiment, ExperimentsResponse } from "../wire/generated/models";
import { isExperiment, isExperimentsResponse } from "../wire/generated/validators";
import { request } from "./http";

/** All experiments, the newest first, and how far they are. */
export function listExperiments(signal?: AbortSignal): Promise<ExperimentsResponse> {
  return request("GET", "/experiments", isExperimentsResponse, { signal });
}

/** One, with its figures and charts. */
export function getExperiment(id: string, signal?: AbortSignal): Promise<Experiment> {
  return request("GET", `/experiments/${id}`, isExperiment, { signal });
}
