// Generated from shared/schemas by tools/generate.py. Do not edit.

import type { Comparison, DemoResponse, DoctorReport, Experiment, ExperimentsResponse, FrameHeader, HealthResponse, LiveMessage, PoliciesResponse, PredictionService, PredictionWeights, Problem, ProcessesResponse, RunManifest, RunsResponse, SessionOpened, SessionResponse, SessionsResponse, SizeAudit, SteeringOptions, Target, TicketResponse } from "./models";

/** Whether a value fits its schema; if not, `errors` says where. */
export interface Validator<T> {
  (value: unknown): value is T;
  errors?: readonly Misfit[] | null;
}

export interface Misfit {
  /** JSON pointer to what does not fit. */
  readonly instancePath: string;
  /** Keyword of the schema that it does not fit. */
  readonly keyword: string;
  readonly params?: { readonly missingProperty?: string };
}

export const isLiveMessage: Validator<LiveMessage>;
export const isFrameHeader: Validator<FrameHeader>;
export const isProblem: Validator<Problem>;
export const isHealthResponse: Validator<HealthResponse>;
export const isProcessesResponse: Validator<ProcessesResponse>;
export const isDemoResponse: Validator<DemoResponse>;
export const isDoctorReport: Validator<DoctorReport>;
export const isSizeAudit: Validator<SizeAudit>;
export const isSessionOpened: Validator<SessionOpened>;
export const isSessionResponse: Validator<SessionResponse>;
export const isSessionsResponse: Validator<SessionsResponse>;
export const isTicketResponse: Validator<TicketResponse>;
export const isTarget: Validator<Target>;
export const isPoliciesResponse: Validator<PoliciesResponse>;
export const isSteeringOptions: Validator<SteeringOptions>;
export const isPredictionService: Validator<PredictionService>;
export const isPredictionWeights: Validator<PredictionWeights>;
export const isRunsResponse: Validator<RunsResponse>;
export const isRunManifest: Validator<RunManifest>;
export const isComparison: Validator<Comparison>;
export const isExperiment: Validator<Experiment>;
export const isExperimentsResponse: Validator<ExperimentsResponse>;
