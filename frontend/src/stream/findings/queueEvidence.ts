/** Processes that serve queues of the kernel, with their names, and what their threads do. */

import { leadingRole } from "../facts/parties";
import { processesOf } from "../format";
import type { QueuesView } from "../queues";
import type { TargetModel } from "../targetModel";
import { inStates, type QueueEvidence, type Queuers, type ThreadTimes } from "./finding";

/** Calls and bytes of a thread a second, from which on it serves somebody. */
const SERVES_PER_S = 0.2;

export function queueEvidence(
  view: QueuesView,
  model: TargetModel,
  threads: readonly ThreadTimes[],
  seconds: number,
): QueueEvidence {
  // In a target of one process, all threads are of it.
  const pidOf = ({ tid }: ThreadTimes): number | null =>
    model.threads.byTid.get(tid)?.process?.pid ?? null;
  const of = (pids: readonly number[]): readonly ThreadTimes[] =>
    threads.filter((thread) => pids.includes(pidOf(thread) ?? pids[0] ?? 0));
  return {
    ...view,
    accepting: view.accepting.map((queue) => {
      const all = of(queue.pids);
      const serving = all.filter(({ moved }) => moved >= SERVES_PER_S * seconds);
      return { ...queue, by: queuers(serving.length > 0 ? serving : all, seconds) };
    }),
    files: view.files.map((file) => {
      const all = of(file.lockers.map(({ pid }) => pid));
      return { ...file, by: queuers(all, seconds) };
    }),
  };
}

function queuers(threads: readonly ThreadTimes[], seconds: number): Queuers {
  const wall = threads.reduce((sum, each) => sum + each.wall, 0);
  const share = (of: (each: ThreadTimes) => number): number =>
    threads.reduce((sum, each) => sum + (of(each) || 0), 0) / wall || 0;
  return {
    name: nameOf(threads),
    key: `role:${leadingRole(rolesOf(threads))}`,
    threads: wall / seconds,
    running: share(({ cpu, queue }) => cpu + queue),
    sleeping: share((each) => inStates(each, "sleep")),
    accepting: share((each) => inStates(each, "poll", "socket_accept")),
  };
}

/** Number of threads of each role. */
function rolesOf(threads: readonly ThreadTimes[]): ReadonlyMap<string, number> {
  const roles = new Map<string, number>();
  for (const { role } of threads) roles.set(role, (roles.get(role) ?? 0) + 1);
  return roles;
}

/** Processes of threads, by the name that most have; roles of a target of one process. */
function nameOf(threads: readonly ThreadTimes[]): string {
  const processes = new Set(threads.map(({ process, role }) => process || role));
  const [only] = processes;
  if (processes.size === 1 && only !== undefined) return only;
  return processesOf([...processes].map((each) => each.replace(/ \(\d+\)$/, "")));
}
