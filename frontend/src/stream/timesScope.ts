/** What "where the time goes" is of: which columns of time, and which threads. */

import type { ViewInput } from "./chartView";
import type { Stretches } from "./history";
import type { Thread } from "./threads";
import type { TimePart } from "./timeParts";
import type { TimesRow, TimesView } from "./views";

/** A last column that is shorter says little. */
const SHORT_S = 0.25;

/** Time of threads, cut into parts: NaN = not available. */
export interface Cut {
  readonly wall_s: number;
  readonly parts: Readonly<Record<TimePart, number>>;
}

/** What the chart is made of. */
export interface Gathered {
  readonly scope: Pick<TimesView, "scope" | "name">;
  readonly time_s: Float64Array;
  /** One less than there are times: each is from one time to the next. */
  readonly cuts: readonly Cut[];
  readonly whole: TimesRow;
  readonly roles: readonly TimesRow[];
  readonly absent: TimesView["absent"];
  /** Whether it is of ledgers; why not, if somebody says. */
  readonly ledger: boolean;
  readonly no_ledger: string | null;
}

/**
 * Samples at which columns begin and end: the first at or after each multiple of the width, so that
 * columns stay where they are when the window slides, and growth and wall time are of the same samples.
 */
export function edgesOf({ n, time_s }: Pick<Stretches, "n" | "time_s">, width_s: number): number[] {
  const edges: number[] = [];
  let column = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < n; i++) {
    // Times are sums of doubles: one that is meant to be on the edge may be off by rounding.
    const now = Math.floor((time_s[i] ?? 0) / width_s + 1e-6);
    if (now > column) edges.push(i);
    column = now;
  }
  const last = edges.at(-1) ?? 0;
  if ((time_s[n - 1] ?? 0) - (time_s[last] ?? 0) >= SHORT_S) edges.push(n - 1);
  return edges;
}

/** What the selection says: a thread, a role, a process of a group, or all that fit the filter. */
export function scopeOf({ request, model }: ViewInput): Pick<TimesView, "scope" | "name"> & {
  readonly has: (thread: Thread) => boolean;
} {
  const { selected } = request;
  if (selected?.startsWith("role:")) {
    const role = selected.slice("role:".length);
    return { scope: "role", name: role, has: (thread) => thread.role === role };
  }
  if (selected?.startsWith("process:")) {
    for (const { key, name, pid } of model.levels.processes()) {
      if (key !== selected) continue;
      return {
        scope: "member",
        name: `${name} (${pid})`,
        has: ({ process }) => process?.key === key,
      };
    }
  } else if (selected !== null) {
    for (const thread of model.threads.all()) {
      if (thread.key !== selected) continue;
      const name = `${thread.name} (${thread.tid})`;
      return { scope: "thread", name, has: (other) => other.key === selected };
    }
  }
  const name = request.filter === "" ? "all threads" : "threads that match the filter";
  return { scope: "process", name, has: () => true };
}
