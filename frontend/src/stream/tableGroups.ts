/** Which threads share a row of the table: none, those of a role, or a tree of processes. */

import type { ViewInput } from "./chartView";
import type { ProcessLife } from "./lined";
import type { Thread } from "./threads";
import type { TableRequest, ThreadKey } from "./viewRequest";

/** Threads that share a row. */
export interface TableGroup {
  readonly key: ThreadKey;
  readonly kind: "thread" | "role" | "process";
  /** From 1: how deep it lies in the tree. */
  readonly depth: number;
  /** Whether its parts are listed below it; null: it has none. */
  readonly open: boolean | null;
  readonly threads: Thread[];
}

/** Brings rows of one depth in order. */
export type Sort = (groups: readonly TableGroup[]) => readonly TableGroup[];

/** A process whose threads came before its id. */
const UNKNOWN = "process:unknown";

/** Whether a thread has ended by then. */
export function hasEnded(thread: Thread, now_s: number): boolean {
  return thread.end_s !== null && thread.end_s <= now_s;
}

/** The rows of the table in their order. */
export function tableGroups(
  input: ViewInput,
  asked: TableRequest,
  sort: Sort,
): readonly TableGroup[] {
  const threads = listed(input, asked);
  switch (asked.group) {
    case "thread":
      return sort(Array.from(threads, (thread) => threadGroup(thread, 1)));
    case "role":
      return sort(byRole(threads, "", 1, null));
    case "process":
      return tree(threads, new Set(asked.open), sort);
  }
}

/** Processes, below those that are open their roles, below those their threads. */
function tree(
  threads: Iterable<Thread>,
  open: ReadonlySet<ThreadKey>,
  sort: Sort,
): readonly TableGroup[] {
  return sort(byProcess(threads, open)).flatMap((process) => {
    if (!process.open) return [process];
    const roles = sort(byRole(process.threads, `${process.key}/`, 2, open));
    const below = roles.flatMap((role) =>
      role.open ? [role, ...sort(role.threads.map((thread) => threadGroup(thread, 3)))] : [role],
    );
    return [process, ...below];
  });
}

function* listed(input: ViewInput, { lives }: TableRequest): Generator<Thread> {
  const { model, filter, span, request } = input;
  const chosen = request.window.kind === "fixed";
  const now_s = chosen ? Math.min(span.t1_s, input.now_s) : input.now_s;
  for (const thread of model.threads.all()) {
    if (thread.seen_s > now_s) continue;
    if (chosen && hasEnded(thread, span.t0_s)) continue;
    if (lives !== "all" && hasEnded(thread, now_s) !== (lives === "exited")) continue;
    if (filter.fits(thread)) yield thread;
  }
}

function threadGroup(thread: Thread, depth: number): TableGroup {
  return { key: thread.key, kind: "thread", depth, open: null, threads: [thread] };
}

/** @param open Keys of open rows; null: nothing lies below a role. A role of one thread is that thread. */
function byRole(
  threads: Iterable<Thread>,
  prefix: string,
  depth: number,
  open: ReadonlySet<ThreadKey> | null,
): TableGroup[] {
  const roles = gathered(threads, ({ role }) => role);
  return Array.from(roles, ([role, of]): TableGroup => {
    const [only] = of;
    if (open && only && of.length === 1) return threadGroup(only, depth);
    const key = `${prefix}role:${role}`;
    return { key, kind: "role", depth, open: open?.has(key) ?? null, threads: of };
  });
}

function byProcess(threads: Iterable<Thread>, open: ReadonlySet<ThreadKey>): TableGroup[] {
  const processes = gathered<ProcessLife | null>(threads, ({ process }) => process);
  return Array.from(processes, ([process, of]): TableGroup => {
    const key = process?.key ?? UNKNOWN;
    return { key, kind: "process", depth: 1, open: open.has(key), threads: of };
  });
}

function gathered<K>(threads: Iterable<Thread>, of: (thread: Thread) => K): Map<K, Thread[]> {
  const found = new Map<K, Thread[]>();
  for (const thread of threads) {
    const key = of(thread);
    const held = found.get(key);
    if (held) held.push(thread);
    else found.set(key, [thread]);
  }
  return found;
}
