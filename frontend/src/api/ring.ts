/** REST API of rings: the last minutes of all targets, kept on their hosts. */

import type { RingCut, RingResponse, RunManifest } from "../wire/generated/models";
import { isRingResponse, isRunManifest } from "../wire/generated/validators";
import { request } from "./http";

export function readRing(signal?: AbortSignal): Promise<RingResponse> {
  return request("GET", "/ring", isRingResponse, { signal });
}

/** Content of the ring of a host; a host of a fleet is asked. */
export function readRingOf(host: string, signal?: AbortSignal): Promise<RingResponse> {
  return request("GET", `/ring?host=${encodeURIComponent(host)}`, isRingResponse, { signal });
}

/** Make a run of a window of a ring; another host sends it. */
export function cutRun(body: RingCut): Promise<RunManifest> {
  return request("POST", "/ring/cuts", isRunManifest, { body });
}
