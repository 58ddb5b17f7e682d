/** Names of knobs and signals for people. */

import type { KnobKind, SignalKind } from "../wire/generated/models";
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

/** Heading of the timeline of sizes. */
export function sizeTitle(knob: KnobKind | null): string {
  return knob === "pool-agent" ? "Pool size" : "GOMAXPROCS";
}

/** Unit of a signal's progress. */
export function signalUnit(signal: SignalKind | null): ShownUnit {
  return signal === "network-bytes" ? "bytes/s" : "1/s";
}
