/** REST API of the ring: the last minutes of all targets, kept on this host. */

import type { RingCut, RingResponse, RunManifest } from "../wire/generated/models";
import { isRingResponse, isRunManifest } from "../wire/generated/validators";
import { request } from "./http";

export function readRing(signal?: AbortSignal): Promise<RingResponse> {
  return request("GET", "/ring", isRingResponse, { signal });
}

/** Make a run of a window of the ring. */
export function cutRun(body: RingCut): Promise<RunManifest> {
  return request("POST", "/ring/cuts", isRunManifest, { body });
}
