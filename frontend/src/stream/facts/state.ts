/** Availability of a frame table, and the reason if unavailable. */

import type { ViewInput } from "../chartView";
import type { FactWindow } from "./factTable";

export interface FactsState {
  /** waiting: a rate needs two instants. absent: the target lacks the table, see `reason`. */
  readonly state: "ok" | "waiting" | "absent";
  readonly reason: string;
}

const NO_LEDGER = "It needs the ledger of states, which eBPF keeps on Linux 6.1 and newer";

/** State of the ledger's counts other than time, over a window. */
export function ledgerState({ model, target }: ViewInput, window: FactWindow): FactsState {
  const { ledger = false, ledger_reason = null } = target?.source ?? {};
  if (!ledger && !model.facts.some) {
    return { state: "absent", reason: ledger_reason ?? NO_LEDGER };
  }
  return { state: window.seconds > 0 ? "ok" : "waiting", reason: "" };
}

/** State of system calls, which are counted on request. */
export function callsState(input: ViewInput, window: FactWindow): FactsState {
  const base = ledgerState(input, window);
  if (base.state === "absent" || input.target?.source.calls) return base;
  return { state: "absent", reason: "Counting system calls is switched off" };
}
