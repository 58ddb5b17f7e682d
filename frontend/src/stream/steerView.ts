/** Steering as shown by the page; times as in views.ts. */

import type {
  CoreDivision,
  KnobKind,
  MeasuredChange,
  ProofState,
  SignalKind,
  SweepState,
  Target,
} from "../wire/generated/models";
import type { ShownUnit } from "./views";

/** The steering of a target, up to now or to the freeze instant. */
export interface SteerView {
  /** Bands, oldest first; the last one is active if its `to_s` is null. */
  readonly bands: readonly SteerBand[];
  /** The last `KEPT_DECISIONS` of `total` decisions, oldest first. */
  readonly decisions: readonly DecisionView[];
  readonly total: number;
  readonly restarts: readonly RestartView[];
  /** Last known division of cores by an arbiter; mostly empty. */
  readonly divisions: readonly DivisionView[];
  /** Result of the last proof and the last sweep; null if none. */
  readonly proof: ProofState | null;
  readonly sweep: SweepState | null;
  /** Sizes tried since `tried_since_s`, smallest first. */
  readonly tried: readonly SizeTried[];
  /** Start of this search: a restart, or a changed signal or knob. */
  readonly tried_since_s: number;
}

/** An arbiter's last allocation to a program. */
export interface DivisionView {
  readonly t_s: number;
  readonly division: CoreDivision;
  /** Release after the last decision; null if not yet released. */
  readonly released_s: number | null;
  /** The steered program, or null for the target itself. */
  readonly program: { readonly pid: number; readonly name: string } | null;
}

/** A time span steered by one policy. */
export interface SteerBand {
  readonly policy: string;
  readonly shadow: boolean;
  readonly knob: KnobKind;
  readonly signal: SignalKind;
  /** The signal is a proxy for the real objective. */
  readonly proxy: boolean;
  readonly from_s: number;
  /** End of the band; null while active. */
  readonly to_s: number | null;
}

/** A decision at the end of an interval. */
export interface DecisionView {
  /** Consecutive number; a stable React key. */
  readonly id: number;
  /** Number since steering started, from 1. */
  readonly number: number;
  /** Ends of the interval; the decision is made at the later one. */
  readonly start_s: number;
  readonly t_s: number;
  readonly policy: string;
  /** Size during the interval, and after it. */
  readonly size: number;
  readonly next_size: number;
  /** Proposed size in shadow mode; null otherwise. */
  readonly proposed: number | null;
  /** Operations per second in the interval; NaN for an empty interval. */
  readonly rate: number;
  /** Mean wait of jobs, in seconds; null if the signal does not include waits. */
  readonly wait_s: number | null;
  readonly state: string;
  readonly reason: string;
  /** False if the interval is not valid for its size. */
  readonly counted: boolean;
  readonly probing: boolean;
  /** In a proof: whether the policy steered in the interval, and the gain so far. */
  readonly with_policy: boolean | null;
  readonly gain: MeasuredChange | null;
  /** Allocation by an arbiter; null without one. */
  readonly division: CoreDivision | null;
  /** Name and process ID of a program in a group; omitted for a single-process target. */
  readonly program?: string;
}

/** A restart of the search. */
export interface RestartView {
  readonly t_s: number;
  readonly policy: string;
  readonly reason: string;
  readonly actor: string;
  /** Program, as in a decision. */
  readonly program?: string;
}

/** Result of a size, over counted intervals. */
export interface SizeTried {
  readonly size: number;
  /** Operations per second of real time. */
  readonly rate: number;
  /** Ends of the 95 % confidence interval of the mean; null with fewer than two intervals. */
  readonly low: number | null;
  readonly high: number | null;
  /** Mean wait of jobs, in seconds; null if the signal does not include waits. */
  readonly wait_s: number | null;
  readonly intervals: number;
}

const SIGNALS: Readonly<Record<SignalKind, string>> = {
  "agent-ops": "operations (agent)",
  "queue-wait": "queue wait",
  prometheus: "Prometheus counter",
  "network-calls": "network calls",
  "network-bytes": "network bytes",
};

const KNOBS: Readonly<Record<KnobKind, string>> = {
  "go-agent": "GOMAXPROCS (agent)",
  "pool-agent": "pool size (agent)",
  "go-affinity": "GOMAXPROCS (CPU affinity)",
};

/** Name of a signal within a sentence. */
export function signalName(signal: SignalKind): string {
  return SIGNALS[signal];
}

/** Description of a knob. */
export function knobName(knob: KnobKind): string {
  return KNOBS[knob];
}

const POOL_SIZE = "Pool size";

/** Heading for the quantity that a knob sets. */
export function sizeTitle(knob: KnobKind | null): string {
  return knob === "pool-agent" ? POOL_SIZE : "GOMAXPROCS";
}

/** Heading of the size timeline; without a knob, derived from the program's known pools. */
export function timelineTitle({ group, gomaxprocs }: Target, knob: KnobKind | null): string {
  if (group != null) return "Size of each program";
  return knob === null && gomaxprocs === null ? POOL_SIZE : sizeTitle(knob);
}

/** Unit of a signal's progress. */
export function signalUnit(signal: SignalKind | null): ShownUnit {
  return signal === "network-bytes" ? "bytes/s" : "1/s";
}
