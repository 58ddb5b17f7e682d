/** Thread names of a target, for the preview of role rules. */

import type { TargetModel } from "./targetModel";

export interface ThreadNames {
  readonly name: string;
  /** Number of threads with this name, including retained ended ones. */
  readonly threads: number;
}

export interface NamesView {
  /** Names by appearance of live threads, followed by ended ones. */
  readonly names: readonly ThreadNames[];
  /** Number of names not sent. */
  readonly more: number;
}

/** Maximum number of names sent. */
const MAX_NAMES = 5000;

export function namesView({ threads }: TargetModel): NamesView {
  const counts = new Map<string, number>();
  for (const { name } of threads.all()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = Array.from(counts, ([name, count]): ThreadNames => ({ name, threads: count }));
  return { names: names.slice(0, MAX_NAMES), more: Math.max(0, names.length - MAX_NAMES) };
}
