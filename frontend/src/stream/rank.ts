/** Choice of the threads that get a line. The user's thread filter. */

import type { ChartItem } from "./chartItem";
import type { Stretches } from "./history";
import { firstOf } from "./series";
import type { TargetModel } from "./targetModel";

/** Factor by which another thread must exceed a thread with a line to replace it. */
const INCUMBENT = 1.15;

/**
 * Growth of each thread's ring counters within these instants, summed over `rings`. NaN if the
 * thread has none.
 */
export function growth(
  model: TargetModel,
  stretches: Stretches,
  thread: ChartItem,
  rings: readonly number[],
): number {
  let sum = Number.NaN;
  for (const ring of rings) {
    const { slot, sinceBlock } = thread;
    const last = model.history.at(stretches, "last", slot, ring, sinceBlock);
    if (Number.isNaN(last)) continue;
    const start = model.history.at(stretches, "first", slot, ring, sinceBlock);
    const from = Number.isNaN(start) ? firstOf(model, slot, ring) : start;
    sum = (Number.isNaN(sum) ? 0 : sum) + Math.max(0, last - from);
  }
  return sum;
}

/**
 * The `k` threads with the highest score, highest first; scores of 0 or NaN are excluded. Ties go
 * to the lower tid. Incumbents are slightly favoured, so that lines are stable.
 */
export function topThreads<T extends ChartItem>(
  threads: Iterable<T>,
  score: (thread: T) => number,
  k: number,
  incumbents: ReadonlySet<string>,
): T[] {
  const best: { thread: T; score: number }[] = [];
  for (const thread of threads) {
    const plain = score(thread);
    if (!(plain > 0)) continue;
    const value = incumbents.has(thread.key) ? plain * INCUMBENT : plain;
    const worst = best[best.length - 1];
    if (best.length === k && worst && value <= worst.score) continue;
    let at = best.length;
    while (at > 0 && ahead(value, thread, best[at - 1])) at--;
    best.splice(at, 0, { thread, score: value });
    if (best.length > k) best.pop();
  }
  return best.map((entry) => entry.thread);
}

function ahead(
  score: number,
  thread: ChartItem,
  other: { thread: ChartItem; score: number } | undefined,
): boolean {
  if (!other) return false;
  return (
    score > other.score || (score === other.score && (thread.tid ?? 0) < (other.thread.tid ?? 0))
  );
}

/** Thread properties used by a filter. */
interface Named {
  readonly tid: number | null;
  readonly name: string;
  readonly role: string;
  /** The thread's process, in a group. */
  readonly process?: NamedProcess | null;
}

/** Process properties used by a filter. */
export interface NamedProcess {
  readonly pid: number;
  readonly name: string;
  readonly row: { readonly title: string } | null;
}

export interface Filter {
  readonly fits: (thread: Named) => boolean;
  /** Error in the expression; "" if none. An invalid expression matches everything. */
  readonly problem: string;
}

/**
 * Filter by a case-insensitive regular expression on a thread's name, role or tid, or on its
 * process' name, title or pid.
 */
export function filterFrom(source: string): Filter {
  if (source.trim() === "") return { fits: () => true, problem: "" };
  let pattern: RegExp;
  try {
    pattern = new RegExp(source.trim(), "i");
  } catch (error) {
    return { fits: () => true, problem: error instanceof Error ? error.message : String(error) };
  }
  const fits = ({ tid, name, role, process }: Named): boolean =>
    pattern.test(name) ||
    pattern.test(role) ||
    (tid !== null && pattern.test(String(tid))) ||
    (process != null && fitsProcess(pattern, process));
  return { fits, problem: "" };
}

function fitsProcess(pattern: RegExp, { pid, name, row }: NamedProcess): boolean {
  return pattern.test(name) || pattern.test(String(pid)) || pattern.test(row?.title ?? "");
}
