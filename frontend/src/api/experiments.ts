/** REST API of experiments, one function per operation. */

import {
  isExperiment,
  isExperimentChild,
  isExperimentsResponse,
} from "../wire/generated/experimentValidators";
import type {
  Experiment,
  ExperimentChild,
  ExperimentsResponse,
  StartExperimentRequest,
} from "../wire/generated/models";
import { command, request } from "./http";

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
