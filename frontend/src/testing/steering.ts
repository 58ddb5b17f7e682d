/** Steering data for tests. */

import type { DecisionView, SteerView } from "../stream/steerView";
import type {
  CoreDivision,
  PolicyInfo,
  Steering,
  SteeringDecided,
  SteeringOptions,
  SteeringStarted,
} from "../wire/generated/models";

/** kalman-kg steers GOMAXPROCS between 1 and 16, from the agent's operations. */
export const STEERING: Steering = {
  policy: "kalman-kg",
  parameters: { interval_s: 2 },
  shadow: false,
  knob: "go-agent",
  signal: "agent-ops",
  proxy: false,
  lower: 1,
  upper: 16,
  original: 16,
  size: 8,
  state: "searching",
  reason: "8 may be better.",
  decisions: 3,
  since_unix_us: 1_700_000_000_000_000,
  problem: null,
};

/** An arbiter's division: 3 of 8 cores. */
export const DIVISION: CoreDivision = {
  share: 2,
  floor: 1,
  priority: 0,
  cores: 3,
  total: 8,
  programs: 3,
  state: "settled",
  cause: "estimate",
  reason: "It is expected to be the best division.",
  changed_unix_us: 1_700_000_000_000_000,
  more_percent: 12.4,
  less_percent: 20.6,
};

/** A policy with two parameters. */
export const POLICY: PolicyInfo = {
  name: "kalman-kg",
  meaning: "Keeps a belief about every size.",
  source: "ours",
  wait: false,
  parameters: [
    {
      name: "interval_s",
      unit: "s",
      integer: false,
      default: 2,
      low: 0.5,
      high: 60,
      meaning: "length of an interval",
    },
    {
      name: "max_step",
      unit: "threads",
      integer: true,
      default: 3,
      low: 1,
      high: 64,
      meaning: "largest step",
    },
  ],
};

/** Options of a Go program with an agent. */
export const OPTIONS: SteeringOptions = {
  knobs: [
    { kind: "go-agent", refusal: "", lower: 1, upper: 16, size: 16 },
    { kind: "go-affinity", refusal: "GOMAXPROCS is set.", lower: null, upper: null, size: null },
  ],
  signals: [
    { kind: "agent-ops", proxy: false, refusal: "", note: "" },
    { kind: "queue-wait", proxy: false, refusal: "The agent does not tell.", note: "" },
  ],
  steering: null,
};

export function began(changes: Partial<SteeringStarted> = {}): SteeringStarted {
  const { policy, shadow, knob, signal, proxy, lower, upper } = STEERING;
  const given = { policy, shadow, knob, signal, proxy, lower, upper };
  return { type: "steering_started", ...given, size: 16, actor: "a page at 127.0.0.1", ...changes };
}

/** A decision after two seconds at `size`, with 1000 operations per second. */
export function decided(
  at_s: number,
  size: number,
  next_size: number,
  changes: Partial<SteeringDecided> = {},
): SteeringDecided {
  return {
    type: "steering_decided",
    number: 1,
    policy: STEERING.policy,
    at_ns: at_s * 1e9,
    elapsed_s: 2,
    ops: 2000,
    mean_wait_s: null,
    size,
    next_size,
    proposed: null,
    state: "searching",
    reason: `${next_size} may be better.`,
    counted: true,
    probing: true,
    with_policy: null,
    gain: null,
    division: null,
    ...changes,
  };
}

export function decision(t_s: number, changes: Partial<DecisionView> = {}): DecisionView {
  return {
    id: t_s,
    number: t_s,
    start_s: t_s - 2,
    t_s,
    policy: STEERING.policy,
    size: 8,
    next_size: 8,
    proposed: null,
    rate: 1000,
    wait_s: null,
    state: "settled",
    reason: "8 is best.",
    counted: true,
    probing: false,
    with_policy: null,
    gain: null,
    division: null,
    ...changes,
  };
}

/** kalman-kg from second 2 on: to 9 at 4, unchanged at 6, a restart at 7. */
export function steerView(changes: Partial<SteerView> = {}): SteerView {
  const { policy, shadow, knob, signal, proxy } = STEERING;
  return {
    bands: [{ policy, shadow, knob, signal, proxy, from_s: 2, to_s: null }],
    decisions: [
      decision(4, { next_size: 9, reason: "9 may be better." }),
      decision(6, { size: 9, next_size: 9, reason: "9 is best." }),
    ],
    total: 2,
    restarts: [{ t_s: 7, policy, reason: "somebody asked for it", actor: "a page" }],
    divisions: [],
    proof: null,
    sweep: null,
    tried: [],
    tried_since_s: 2,
    ...changes,
  };
}
