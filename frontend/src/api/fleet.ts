/** REST API of many hosts, one function per question. */

import { isFleetAcross, isFleetComparison, isFleetHosts } from "../wire/generated/fleetValidators";
import type { FleetAcross, FleetComparison, FleetHosts } from "../wire/generated/models";
import { request } from "./http";

/** @param query Window, as in the route. */
export function listFleet(query: string, signal?: AbortSignal): Promise<FleetHosts> {
  return request("GET", `/fleet/hosts?${query}`, isFleetHosts, { signal });
}

/** A counter of a role on all hosts. */
export function askAcross(query: string, signal?: AbortSignal): Promise<FleetAcross> {
  return request("GET", `/fleet/across?${query}`, isFleetAcross, { signal });
}

/** Two sets of hosts. */
export function compareHosts(query: string, signal?: AbortSignal): Promise<FleetComparison> {
  return request("GET", `/fleet/compare?${query}`, isFleetComparison, { signal });
}
