/** REST API of the prediction service of the backend's host. */

import type { PredictionService, PredictionWeights } from "../wire/generated/models";
import { isPredictionService, isPredictionWeights } from "../wire/generated/validators";
import { request } from "./http";

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
