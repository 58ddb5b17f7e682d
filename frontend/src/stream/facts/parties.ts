/**
 * Parties of table rows: a role of the target, another process, a kernel thread, or an interrupt.
 * Tables name threads by ID; their names come from the model. Also availability of a frame table,
 * and the reason if unavailable.
 */

import type { ViewInput } from "../chartView";
import { roleOf } from "../role";
import { roleColour, type Thread } from "../threads";
import type { ThreadKey } from "../viewRequest";
import type { FactWindow } from "./factTable";
import { HERE, type Placed, placesOutside } from "./places";

export type PartyKind = "role" | "process" | "kernel" | "interrupt";

/** A role, or a process or kernel thread outside the target. */
export interface Party extends Placed {
  /** "role:NAME" of a role, as in other views. */
  readonly key: ThreadKey;
  readonly kind: PartyKind;
  readonly name: string;
  /** Colour for `colourStyle` of chart/palette.ts; null outside the target. */
  readonly colour: number | null;
}

/** Threads under ID 0: ended, without space in the collector's slots, or never named. */
export const UNKNOWN_NAME = "ended or unknown";

/** Role of a thread of the target. */
export function rolePartyOf(thread: Thread | undefined): Party {
  if (!thread) return { ...HERE, key: "role:", kind: "role", name: UNKNOWN_NAME, colour: null };
  const { role, hue } = thread;
  return { ...HERE, key: `role:${role}`, kind: "role", name: role, colour: roleColour(hue) };
}

/** The role with the largest number; "" without any. */
export function leadingRole(roles: ReadonlyMap<string, number>): string {
  return [...roles].reduce((a, b) => (b[1] > a[1] ? b : a), ["", -1] as const)[0];
}

/** A process outside the target, as a row of a table names it. */
export interface Outside {
  /** 0: an interrupt. */
  readonly pid: number;
  /** Row of the table `parties`, which tells processes of one ID apart; 0 in runs without it. */
  readonly party: number;
  readonly kernel: boolean;
  /** Name of its first thread. */
  readonly name: string;
}

/**
 * Processes of one name that are parties of their own in runs without the table `parties`: of more
 * than that, one stands for others, and the run does not say which.
 */
const ALONE = 6;

/** Processes that ended before the collector read their names: one row of the tables for them all. */
export const SHORT_LIVED_KEY: ThreadKey = "process:";

const NO_COLOUR = { ...HERE, colour: null };

/**
 * Parties outside the target: processes by ID and start, or by name if the page asks for that;
 * kernel threads by name without digits. Processes of tidscope are one party.
 */
export function outsideParties(
  { model, target, request }: Pick<ViewInput, "model" | "target" | "request">,
  all: Iterable<Outside>,
): (one: Outside) => Party {
  const places = placesOutside(model, target);
  const alike = new Map<string, { readonly keys: Set<string>; many: boolean }>();
  for (const one of all) {
    if (one.kernel || one.pid === 0) continue;
    const found = alike.get(one.name) ?? { keys: new Set(), many: false };
    alike.set(one.name, found);
    found.keys.add(processKey(one));
    found.many ||= places.isMany(one.party);
  }
  return (one) => {
    const { pid, party, kernel, name } = one;
    if (pid === 0)
      return { ...NO_COLOUR, key: "interrupt:", kind: "interrupt", name: "interrupts" };
    if (kernel) {
      const shown = roleOf(name) || `thread ${pid}`;
      return { ...NO_COLOUR, key: `kernel:${shown}`, kind: "kernel", name: shown };
    }
    if (/^tidscope\b/.test(name)) {
      return { ...NO_COLOUR, key: "process:tidscope", kind: "process", name: "tidscope itself" };
    }
    if (name === "") {
      return { ...NO_COLOUR, key: SHORT_LIVED_KEY, kind: "process", name: "short-lived processes" };
    }
    const same = alike.get(name);
    const count = same?.keys.size ?? 0;
    const summed = request.by_program ? count > 1 : party === 0 && count > ALONE;
    if (summed) {
      const more = same?.many || party === 0 ? " and more" : "";
      const shown = `${name} ×${count}${more}`;
      return { ...NO_COLOUR, key: `process:${name}`, kind: "process", name: shown };
    }
    const more = places.isMany(party) ? " and more" : "";
    const shown = `${name} (${pid})${more}`;
    const key = processKey(one);
    return { key, kind: "process", name: shown, colour: null, ...places.of(party) };
  };
}

function processKey({ pid, party }: Outside): string {
  return party === 0 ? `process:${pid}` : `process:${pid}#${party}`;
}

/** Kinds in words, for tables and screen readers. */
export const PARTY_WORDS: Readonly<Record<PartyKind, string>> = {
  role: "role",
  process: "other process",
  kernel: "kernel thread",
  interrupt: "interrupts and timers",
};

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
