/** Search and order of the run list. Pure. */

import { runTargetKind, runTargetName } from "../../stream/targetName";
import type { RunSummary } from "../../wire/generated/models";

export type RunSort =
  | "name"
  | "started"
  | "duration"
  | "threads"
  | "size"
  | "host"
  | "state"
  | "process";

export interface Order {
  readonly by: RunSort;
  readonly descending: boolean;
}

export const NEWEST_FIRST: Order = { by: "started", descending: true };

const KEYS: Readonly<Record<RunSort, (run: RunSummary) => string | number>> = {
  name: (run) => run.name.toLowerCase(),
  started: (run) => run.started_unix_us,
  duration: (run) => run.duration_ns,
  threads: (run) => run.counts.threads,
  size: (run) => run.counts.bytes,
  host: (run) => run.host_name.toLowerCase(),
  state: (run) => run.state,
  process: (run) => runTargetName(run).toLowerCase(),
};

/** Failure of the recorded command, such as "exit 3" or "SIGKILL"; null if it succeeded. */
export function failureText({ exit_code, signal }: RunSummary): string | null {
  if (signal !== null) {
    return signal;
  }
  return exit_code === null || exit_code === 0 ? null : `exit ${exit_code}`;
}

/** Sort runs; ties keep the newest first. */
export function sortRuns(runs: readonly RunSummary[], { by, descending }: Order): RunSummary[] {
  const key = KEYS[by];
  const sign = descending ? -1 : 1;
  return [...runs].sort((a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left === right) {
      return b.started_unix_us - a.started_unix_us;
    }
    return left < right ? -sign : sign;
  });
}

/**
 * Filter runs by the words of a text. Each must occur in name, tags, group, notes, command, name
 * and kind of the target, host, or policies.
 */
export function filterRuns(runs: readonly RunSummary[], text: string): readonly RunSummary[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) {
    return runs;
  }
  return runs.filter((run) => {
    const all = [
      run.name,
      run.group ?? "",
      run.notes,
      run.command ?? "",
      run.process,
      runTargetName(run),
      runTargetKind(run) ?? "",
      run.host_name,
      run.id,
      ...run.tags,
      ...run.policies,
    ]
      .join("\n")
      .toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
