/** Why a target, or a policy for it, cannot be steered. Pure. */

import type { PolicyInfo, SteeringOptions } from "../../wire/generated/models";

/** Missing prerequisite of all steering; null if a knob and a signal are usable. */
export function steeringObstacle(options: SteeringOptions): "knob" | "signal" | null {
  if (options.knobs.every(({ refusal }) => refusal !== "")) return "knob";
  return options.signals.every(({ refusal }) => refusal !== "") ? "signal" : null;
}

/** Why this policy, unlike others, cannot steer the target; "" if it can. */
export function policyObstacle(policy: PolicyInfo, options: SteeringOptions | null): string {
  if (!policy.wait || options === null) return "";
  const queueWait = options.signals.find(({ kind }) => kind === "queue-wait");
  if (queueWait === undefined) return "Needs queue wait, which this program does not report.";
  return queueWait.refusal === "" ? "" : `Needs queue wait. ${queueWait.refusal}`;
}
