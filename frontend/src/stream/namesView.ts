/** The names of a target's threads: what a correction of roles would apply to. */

import type { TargetModel } from "./targetModel";

export interface ThreadNames {
  readonly name: string;
  /** Threads of that name, ended ones that are kept included. */
  readonly threads: number;
}

export interface NamesView {
  /** In order of appearance of living threads, then of ended ones. */
  readonly names: readonly ThreadNames[];
  /** Names that are not sent. */
  readonly more: number;
}

/** Names that are sent. */
const MOST = 5000;

export function namesView({ threads }: TargetModel): NamesView {
  const counts = new Map<string, number>();
  for (const { name } of threads.all()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = Array.from(counts, ([name, count]): ThreadNames => ({ name, threads: count }));
  return { names: names.slice(0, MOST), more: Math.max(0, names.length - MOST) };
}
