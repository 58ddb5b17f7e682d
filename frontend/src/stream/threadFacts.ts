/** What the ledger knows of one thread beside its states: its locks, and who wakes whom. */

import type { ViewInput } from "./chartView";
import { type FactsState, ledgerState } from "./facts/state";
import { type ThreadLock, threadLocks } from "./locks";
import { type TakerRow, takersOf } from "./takers";
import type { ThreadKey } from "./viewRequest";
import { type WakePartner, wakePartners } from "./wakes";

export interface ThreadFactsView extends FactsState {
  /** The thread; null: none is selected. */
  readonly key: ThreadKey | null;
  readonly seconds: number;
  readonly locks: readonly ThreadLock[];
  readonly wakers: readonly WakePartner[];
  readonly wakees: readonly WakePartner[];
  /** What ran while it was in a run queue. */
  readonly takers: readonly TakerRow[];
}

/** Of the selected thread. */
export function threadFactsView(input: ViewInput): ThreadFactsView {
  const { model, request, span, now_s } = input;
  const window = model.facts.wakes.window(span.t0_s, Math.min(span.t1_s, now_s));
  const { seconds } = window;
  const none = { seconds, locks: [], wakers: [], wakees: [], takers: [] };
  const thread = threadOf(input);
  const base = ledgerState(input, window);
  if (!thread || base.state !== "ok") return { ...base, ...none, key: thread?.key ?? null };
  return {
    ...base,
    key: request.selected,
    seconds,
    locks: threadLocks(input, thread.tid),
    wakers: wakePartners(input, thread.tid, "wakers"),
    wakees: wakePartners(input, thread.tid, "wakees"),
    takers: takersOf(input, (tid) => tid === thread.tid).rows,
  };
}

function threadOf({ model, request }: ViewInput) {
  if (request.selected === null) return undefined;
  for (const thread of model.threads.all()) if (thread.key === request.selected) return thread;
  return undefined;
}
