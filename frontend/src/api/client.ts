/** The backend's REST surface, one function an operation. */

import type {
  AttachRequest,
  DemoResponse,
  DoctorReport,
  HealthResponse,
  ProcessesResponse,
  Target,
} from "../wire/generated/models";
import { request } from "./http";
import { signedIn } from "./session";

export function getHealth(signal?: AbortSignal): Promise<HealthResponse> {
  return request("GET", "/health", signal ? { signal } : {});
}

export function listProcesses(
  host: string | null,
  signal?: AbortSignal,
): Promise<ProcessesResponse> {
  return request("GET", `/processes${onHost(host)}`, signal ? { signal } : {});
}

export function attach(body: AttachRequest): Promise<Target> {
  return request("POST", "/targets", { body });
}

export function detach(target: string): Promise<void> {
  return request("DELETE", `/targets/${target}`);
}

export function setRate(target: string, rateHz: number): Promise<Target> {
  return request("PATCH", `/targets/${target}`, { body: { rate_hz: rateHz } });
}

export function startDemo(): Promise<DemoResponse> {
  return request("POST", "/demo");
}

export function stopDemo(): Promise<void> {
  return request("DELETE", "/demo");
}

export function examine(host: string | null, signal?: AbortSignal): Promise<DoctorReport> {
  return request("GET", `/doctor${onHost(host)}`, signal ? { signal } : {});
}

/** Set kernel.task_delayacct of a host; answers with its report. */
export function setDelayAccounting(host: string | null, on: boolean): Promise<DoctorReport> {
  return request("PUT", `/doctor/delay-accounting${onHost(host)}`, { body: { on } });
}

/** Trade the printed token for a session cookie. */
export async function signIn(token: string): Promise<void> {
  await request<void>("POST", "/session", { body: { token } });
  signedIn.set(true);
}

function onHost(host: string | null): string {
  return host === null ? "" : `?host=${encodeURIComponent(host)}`;
}
