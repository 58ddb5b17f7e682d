/** Requests from the user's edits and the current steering. Pure. */

import type {
  KnobKind,
  PolicyInfo,
  PolicyParameter,
  PrometheusCounter,
  SignalKind,
  Steering,
  SteerRequest,
} from "../../wire/generated/models";

/** Unapplied changes; omitted ones equal the current steering. */
export interface Edits {
  /** Typed values by policy and parameter. */
  readonly parameters: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly knob?: KnobKind;
  readonly signal?: SignalKind;
  readonly lower?: string;
  readonly upper?: string;
  readonly shadow?: boolean;
  readonly counter?: CounterText;
}

/** A Prometheus counter as typed. */
export interface CounterText {
  readonly port: string;
  readonly path: string;
  readonly metric: string;
}

export const NO_EDITS: Edits = { parameters: {} };

/**
 * Edits remaining after the others were applied.
 * @param policy Policy whose parameters were sent; null for none.
 */
export function afterSteering({ parameters }: Edits, policy: string | null): Edits {
  const left = Object.entries(parameters).filter(([name]) => name !== policy);
  return { parameters: Object.fromEntries(left) };
}

/** Edits remaining after a refusal: typed values can be corrected, the rest is reset. */
export function afterRefusal(edits: Edits): Edits {
  const { knob: _knob, signal: _signal, shadow: _shadow, ...typed } = edits;
  return typed;
}

/** Sizes that a knob allows; null if unknown. */
export interface Allowed {
  readonly lower: number | null;
  readonly upper: number | null;
}

/** State of a number field: its text, and its error ("" if none). */
export interface Field {
  readonly text: string;
  readonly wrong: string;
}

/** Parameter values of a policy before edits: the current ones, else the defaults. */
function base(parameter: PolicyParameter, policy: string, steering: Steering | null): number {
  const current = steering?.policy === policy ? steering.parameters[parameter.name] : undefined;
  return current ?? parameter.default;
}

export function parameterField(
  parameter: PolicyParameter,
  policy: string,
  steering: Steering | null,
  edits: Edits,
): Field {
  const typed = edits.parameters[policy]?.[parameter.name];
  if (typed === undefined) return { text: String(base(parameter, policy, steering)), wrong: "" };
  const { low, high, integer } = parameter;
  return { text: typed, wrong: wrongNumber(typed, low, high, integer) };
}

/** Meaning, bounds and default of a parameter, as sentences. */
export function parameterHelp({ meaning, low, high, default: initial }: PolicyParameter): string {
  const sentence = meaning.charAt(0).toUpperCase() + meaning.slice(1).replace(/\.$/, "");
  return `${sentence}. ${low} to ${high}, default ${initial}.`;
}

/** Error of a number; "" if none. */
export function wrongNumber(text: string, low: number, high: number, integer: boolean): string {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) return "Not a number.";
  if (integer && !Number.isInteger(value)) return "Whole numbers only.";
  if (value < low || value > high) return `Between ${low} and ${high}.`;
  return "";
}

/** Whether all shown parameters of a policy are at their defaults. */
export function isDefault(policy: PolicyInfo, steering: Steering | null, edits: Edits): boolean {
  return policy.parameters.every((parameter) => {
    const { text } = parameterField(parameter, policy.name, steering, edits);
    return text.trim() !== "" && Number(text) === parameter.default;
  });
}

/** Edits that reset all parameters of a policy to their defaults. */
export function toDefaults(policy: PolicyInfo, edits: Edits): Edits {
  const typed = policy.parameters.map((each) => [each.name, String(each.default)] as const);
  return {
    ...edits,
    parameters: { ...edits.parameters, [policy.name]: Object.fromEntries(typed) },
  };
}

/** Whether the fields of a policy's parameters differ from the current values. */
export function changesParameters(
  policy: PolicyInfo,
  steering: Steering | null,
  edits: Edits,
): boolean {
  return policy.parameters.some((parameter) => {
    const { text } = parameterField(parameter, policy.name, steering, edits);
    return text.trim() === "" || Number(text) !== base(parameter, policy.name, steering);
  });
}

/** Names of invalid parameters, which block sending. */
export function wrongParameters(
  policy: PolicyInfo,
  steering: Steering | null,
  edits: Edits,
): readonly string[] {
  return policy.parameters
    .filter((each) => parameterField(each, policy.name, steering, edits).wrong !== "")
    .map(({ name }) => name);
}

/** The fields of the bounds; empty means the knob's own. */
export function boundFields(
  steering: Steering | null,
  edits: Edits,
  allowed: Allowed,
): { readonly lower: Field; readonly upper: Field } {
  const low = allowed.lower ?? 1;
  const high = allowed.upper ?? 1048576;
  const field = (typed: string | undefined, current: number | undefined): Field => {
    const text = typed ?? String(current ?? "");
    return { text, wrong: text.trim() === "" ? "" : wrongNumber(text, low, high, true) };
  };
  const lower = field(edits.lower, steering?.lower);
  const upper = field(edits.upper, steering?.upper);
  const crossed =
    lower.wrong === "" &&
    upper.wrong === "" &&
    lower.text.trim() !== "" &&
    upper.text.trim() !== "" &&
    Number(lower.text) > Number(upper.text);
  return {
    lower,
    upper: crossed ? { ...upper, wrong: "Must not be below the lower bound." } : upper,
  };
}

/** The typed counter, or null if incomplete. */
export function counterOf(text: CounterText | undefined): PrometheusCounter | null {
  if (text === undefined) return null;
  const { port, path, metric } = text;
  if (wrongNumber(port, 1, 65535, true) !== "") return null;
  if (!path.startsWith("/") || !/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(metric)) return null;
  return { port: Number(port), path, metric };
}

/**
 * Request that steers by a policy, with the current settings and the edits.
 * @param known The counter last sent, if the signal is prometheus.
 */
export function requestFor(
  policy: PolicyInfo,
  steering: Steering | null,
  edits: Edits,
  { known, waits }: { readonly known: PrometheusCounter | null; readonly waits: boolean | null },
): SteerRequest {
  const parameters: Record<string, number> = {};
  for (const parameter of policy.parameters) {
    const { text } = parameterField(parameter, policy.name, steering, edits);
    if (Number(text) !== parameter.default) parameters[parameter.name] = Number(text);
  }
  // Policies that use the wait of jobs and policies that use their number need different signals.
  const kept = waits === null || waits === policy.wait ? steering?.signal : undefined;
  const signal = edits.signal ?? kept ?? null;
  const request: SteerRequest = {
    policy: policy.name,
    parameters,
    shadow: edits.shadow ?? steering?.shadow ?? false,
    knob: edits.knob ?? steering?.knob ?? null,
    signal,
    lower: bound(edits.lower, steering?.lower),
    upper: bound(edits.upper, steering?.upper),
  };
  const counter = counterOf(edits.counter) ?? known;
  return signal === "prometheus" && counter !== null
    ? { ...request, prometheus: counter }
    : request;
}

function bound(typed: string | undefined, current: number | undefined): number | null {
  if (typed === undefined) return current ?? null;
  return typed.trim() === "" ? null : Number(typed);
}

/** Request that restores the current steering. */
export function requestOf(steering: Steering, known: PrometheusCounter | null): SteerRequest {
  const { policy, parameters, shadow, knob, signal, lower, upper } = steering;
  const request: SteerRequest = { policy, parameters, shadow, knob, signal, lower, upper };
  return signal === "prometheus" && known !== null ? { ...request, prometheus: known } : request;
}

/** Label for undoing a request. */
export function undoLabel(before: Steering, after: string | null): string {
  if (after === null) return `Steer again with ${before.policy}`;
  return after === before.policy ? "Undo change" : `Back to ${before.policy}`;
}
