/** Names of knobs and signals for people. */

import type { KnobKind, SignalKind, Target } from "../wire/generated/models";
import type { ShownUnit } from "./views";

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
