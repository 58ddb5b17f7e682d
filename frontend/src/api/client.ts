/**
 * The backend's REST API, one function per operation. Folder `api`: REST requests in, checked
 * answers or a ProblemError out. It must not know views or components.
 */

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

/** List the policies that can steer a program, with their parameters. */
export function listPolicies(signal?: AbortSignal): Promise<PoliciesResponse> {
  return request("GET", "/policies", isPoliciesResponse, { signal });
}

/** Steering options of a target, or why the target cannot be steered. */
export function steeringOptions(target: string, signal?: AbortSignal): Promise<SteeringOptions> {
  return request("GET", `/targets/${target}/steering`, isSteeringOptions, { signal });
}

/** Start steering a target, or change how it is steered. */
export function steer(target: string, body: SteerRequest): Promise<Target> {
  return request("PUT", `/targets/${target}/steering`, isTarget, { body });
}

/** @param pid Program of a group; null for all programs, or for a single-process target. */
export function restartSearch(target: string, pid: number | null = null): Promise<Target> {
  return request("POST", `/targets/${target}/steering/restart${ofProgram(pid)}`, isTarget);
}

/** Stop steering: the target gets its original size back; `pid` as in `restartSearch`. */
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

/** Compare GOMAXPROCS of a host's Go programs with the CPUs available to each. */
export function auditSizes(host: string | null, signal?: AbortSignal): Promise<SizeAudit> {
  return request("GET", `/sizes${onHost(host)}`, isSizeAudit, { signal });
}

/** Set kernel.task_delayacct of a host; return the host's report. */
export function setDelayAccounting(host: string | null, on: boolean): Promise<DoctorReport> {
  return request("PUT", `/doctor/delay-accounting${onHost(host)}`, isDoctorReport, {
    body: { on },
  });
}

function onHost(host: string | null): string {
  return host === null ? "" : `?host=${encodeURIComponent(host)}`;
}
