/** The backend's REST surface, one function an operation. */

import type {
  AttachRequest,
  DemoResponse,
  DoctorReport,
  HealthResponse,
  PoliciesResponse,
  ProcessesResponse,
  SizeAudit,
  SteeringOptions,
  SteerRequest,
  Target,
} from "../wire/generated/models";
import {
  isDemoResponse,
  isDoctorReport,
  isHealthResponse,
  isPoliciesResponse,
  isProcessesResponse,
  isSizeAudit,
  isSteeringOptions,
  isTarget,
} from "../wire/generated/validators";
import { command, request } from "./http";

export function getHealth(signal?: AbortSignal): Promise<HealthResponse> {
  return request("GET", "/health", isHealthResponse, { signal });
}

export function listProcesses(
  host: string | null,
  signal?: AbortSignal,
): Promise<ProcessesResponse> {
  return request("GET", `/processes${onHost(host)}`, isProcessesResponse, { signal });
}

export function attach(body: AttachRequest): Promise<Target> {
  return request("POST", "/targets", isTarget, { body });
}

export function detach(target: string): Promise<void> {
  return command("DELETE", `/targets/${target}`);
}

export function setRate(target: string, rateHz: number): Promise<Target> {
  return request("PATCH", `/targets/${target}`, isTarget, { body: { rate_hz: rateHz } });
}

/** The policies that a program can be steered by, with their parameters. */
export function listPolicies(signal?: AbortSignal): Promise<PoliciesResponse> {
  return request("GET", "/policies", isPoliciesResponse, { signal });
}

/** How a target could be steered, or why not. */
export function steeringOptions(target: string, signal?: AbortSignal): Promise<SteeringOptions> {
  return request("GET", `/targets/${target}/steering`, isSteeringOptions, { signal });
}

/** Steer a target, or steer it otherwise. */
export function steer(target: string, body: SteerRequest): Promise<Target> {
  return request("PUT", `/targets/${target}/steering`, isTarget, { body });
}

/** @param pid Which program of a group; null: all, or the one process that the target is. */
export function restartSearch(target: string, pid: number | null = null): Promise<Target> {
  return request("POST", `/targets/${target}/steering/restart${ofProgram(pid)}`, isTarget);
}

/** Steer no more: the target gets its original size back; `pid` as in `restartSearch`. */
export function releaseTarget(target: string, pid: number | null = null): Promise<Target> {
  return request("DELETE", `/targets/${target}/steering${ofProgram(pid)}`, isTarget);
}

function ofProgram(pid: number | null): string {
  return pid === null ? "" : `?pid=${pid}`;
}

export function startDemo(): Promise<DemoResponse> {
  return request("POST", "/demo", isDemoResponse);
}

export function stopDemo(): Promise<void> {
  return command("DELETE", "/demo");
}

export function examine(host: string | null, signal?: AbortSignal): Promise<DoctorReport> {
  return request("GET", `/doctor${onHost(host)}`, isDoctorReport, { signal });
}

/** Hold GOMAXPROCS of a host's Go programs against the CPUs that they may use. */
export function auditSizes(host: string | null, signal?: AbortSignal): Promise<SizeAudit> {
  return request("GET", `/sizes${onHost(host)}`, isSizeAudit, { signal });
}

/** Set kernel.task_delayacct of a host; answers with its report. */
export function setDelayAccounting(host: string | null, on: boolean): Promise<DoctorReport> {
  return request("PUT", `/doctor/delay-accounting${onHost(host)}`, isDoctorReport, {
    body: { on },
  });
}

function onHost(host: string | null): string {
  return host === null ? "" : `?host=${encodeURIComponent(host)}`;
}
