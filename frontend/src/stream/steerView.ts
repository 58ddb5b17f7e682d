/** What the page shows of steering; times as in views.ts. */

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

/** The steering of a target, up to now or to the instant that the view is frozen at. */
export interface SteerView {
  /** Oldest first; the last one goes on if its `to_s` is null. */
  readonly bands: readonly SteerBand[];
  /** Oldest first, the last `KEPT_DECISIONS` of `total`. */
  readonly decisions: readonly DecisionView[];
  readonly total: number;
  readonly restarts: readonly RestartView[];
  /** Who had how many of the cores that an arbiter divides, when it was last heard of; mostly empty. */
  readonly divisions: readonly DivisionView[];
  /** How the last proof and the last sweep ended; null: none did. */
  readonly proof: ProofState | null;
  readonly sweep: SweepState | null;
  /** By size, smallest first, since `tried_since_s`. */
  readonly tried: readonly SizeTried[];
  /** When this search began: a restart, or steering by another signal or knob. */
  readonly tried_since_s: number;
}

/** What an arbiter gave a program, at its last decision. */
export interface DivisionView {
  readonly t_s: number;
  readonly division: CoreDivision;
  /** When it was released after that; null: not yet. */
  readonly released_s: number | null;
  /** Null: the target itself. */
  readonly program: { readonly pid: number; readonly name: string } | null;
}

/** A stretch of time in which one policy steered. */
export interface SteerBand {
  readonly policy: string;
  readonly shadow: boolean;
  readonly knob: KnobKind;
  readonly signal: SignalKind;
  /** The signal stands in for what matters. */
  readonly proxy: boolean;
  readonly from_s: number;
  /** Null while it lasts. */
  readonly to_s: number | null;
}

/** A decision at the end of an interval. */
export interface DecisionView {
  /** Grows by one; a stable React key. */
  readonly id: number;
  /** From 1 since steering started. */
  readonly number: number;
  /** Ends of the interval; the decision was taken at the later one. */
  readonly start_s: number;
  readonly t_s: number;
  readonly policy: string;
  /** Size in effect during the interval, and after it. */
  readonly size: number;
  readonly next_size: number;
  /** In shadow mode the size that would have been set; null otherwise. */
  readonly proposed: number | null;
  /** Operations a second in the interval; NaN for an interval without length. */
  readonly rate: number;
  /** Mean time that jobs waited, seconds; null where the signal does not tell. */
  readonly wait_s: number | null;
  readonly state: string;
  readonly reason: string;
  /** False if the interval said nothing about the size. */
  readonly counted: boolean;
  readonly probing: boolean;
  /** In a proof, whether the policy steered in the interval, and the gain so far. */
  readonly with_policy: boolean | null;
  readonly gain: MeasuredChange | null;
  /** What an arbiter gives; null without one. */
  readonly division: CoreDivision | null;
  /** Name and process id of a program of a group; left out where the target is one process. */
  readonly program?: string;
}

/** The search started again. */
export interface RestartView {
  readonly t_s: number;
  readonly policy: string;
  readonly reason: string;
  readonly actor: string;
  /** As of a decision. */
  readonly program?: string;
}

/** What a size gave, over the intervals that count. */
export interface SizeTried {
  readonly size: number;
  /** Operations a second of real time. */
  readonly rate: number;
  /** Ends of the 95 % confidence interval of the mean; null with fewer than two intervals. */
  readonly low: number | null;
  readonly high: number | null;
  /** Mean time that jobs waited, seconds; null where the signal does not tell. */
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

/** What a signal is, within a sentence. */
export function signalName(signal: SignalKind): string {
  return SIGNALS[signal];
}

/** What a knob turns, and how. */
export function knobName(knob: KnobKind): string {
  return KNOBS[knob];
}

const POOL_SIZE = "Pool size";

/** What a knob sets, as a heading. */
export function sizeTitle(knob: KnobKind | null): string {
  return knob === "pool-agent" ? POOL_SIZE : "GOMAXPROCS";
}

/** Heading of the timeline of sizes; without a knob it is of what the program is known to have. */
export function timelineTitle({ group, gomaxprocs }: Target, knob: KnobKind | null): string {
  if (group != null) return "Size of each program";
  return knob === null && gomaxprocs === null ? POOL_SIZE : sizeTitle(knob);
}

/** Unit of a signal's progress. */
export function signalUnit(signal: SignalKind | null): ShownUnit {
  return signal === "network-bytes" ? "bytes/s" : "1/s";
}
