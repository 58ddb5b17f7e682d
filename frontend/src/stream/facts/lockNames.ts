/** Names and kinds of locks, as the collector found them. */

import type { TargetModel } from "../targetModel";
import { LOCK_NAMES } from "./facts";

const KINDS = ["lock", "condition", "gil", "park", "join", "monitor", "call", "unknown"] as const;
export type LockKind = (typeof KINDS)[number];

/** Sources with measured figures, not estimates; old runs name none. */
const MEASURED: readonly string[] = ["futex", "system-call", ""];

export interface LockIdentity {
  readonly lock: number;
  /** Name in the program, or else a number that is constant for the life of the target. */
  readonly name: string;
  readonly named: boolean;
  readonly kind: LockKind;
  /** Source of the figures: futex, go-mutex-profile and so on. */
  readonly source: string;
  /** Figures are estimates from the program's own sampling profile. */
  readonly estimated: boolean;
  /** File that contains the symbol, or "". */
  readonly symbol_file: string;
  /** Address in the program's memory, or 0 if unknown. */
  readonly address: number;
}

export function lockNames({ facts }: TargetModel): ReadonlyMap<number, LockIdentity> {
  const { lock_names } = facts;
  const names = new Map<number, LockIdentity>();
  for (const slot of lock_names.all()) {
    const lock = lock_names.key(slot, LOCK_NAMES.lock);
    const name = lock_names.text(slot, LOCK_NAMES.name);
    const kind = lock_names.text(slot, LOCK_NAMES.kind);
    const source = lock_names.text(slot, LOCK_NAMES.source);
    names.set(lock, {
      lock,
      name: name || numbered(lock),
      named: name !== "",
      kind: KINDS.find((each) => each === kind) ?? "unknown",
      source,
      estimated: !MEASURED.includes(source),
      symbol_file: lock_names.text(slot, LOCK_NAMES.symbol_file),
      address: lock_names.fact(slot, LOCK_NAMES.address),
    });
  }
  return names;
}

/** Default identity of a lock without a description. */
export function unnamedLock(lock: number): LockIdentity {
  const name = numbered(lock);
  const unknown = { kind: "unknown", source: "", symbol_file: "", address: 0 } as const;
  return { lock, name, named: false, estimated: false, ...unknown };
}

function numbered(lock: number): string {
  return `lock ${lock}`;
}
