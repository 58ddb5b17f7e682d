// Generated from shared/schemas by tools/generate.py. Do not edit.

import type { TraceAnalysis, TraceDetail, TraceDifference, TraceEndpoints, TraceHeat, TraceList, TraceOperations, TracesImported } from "./models";
import type { Validator } from "./validators";

export const isTraceEndpoints: Validator<TraceEndpoints>;
export const isTraceList: Validator<TraceList>;
export const isTraceDetail: Validator<TraceDetail>;
export const isTraceAnalysis: Validator<TraceAnalysis>;
export const isTraceDifference: Validator<TraceDifference>;
export const isTraceHeat: Validator<TraceHeat>;
export const isTraceOperations: Validator<TraceOperations>;
export const isTracesImported: Validator<TracesImported>;
