/**
 * Views of frame tables and findings, each computed while its panel is visible. Thread names of a
 * target, for the preview of role rules.
 */

import { type CallsView, callsView } from "./calls";
import type { ViewInput } from "./chartView";
import { type FactsState, ledgerState } from "./facts/parties";
import type { FindingsMaker, FindingsView } from "./findings/findings";
import { type GoroutinesView, goroutinesView } from "./goroutines";
import { type ThreadLock, threadLocks } from "./locks";
import { type PoolsView, poolsView } from "./poolsView";
import { type ProcessesView, processesView } from "./processesView";
import type { Steps } from "./steps";
import { type TakerRow, takersOf } from "./takers";
import type { TargetModel } from "./targetModel";
import { type ThreadView, threadView } from "./threadView";
import type { FactPart, ThreadKey, ViewRequest } from "./viewRequest";
import { type WaitingView, waitingView } from "./waiting";
import { type WakePartner, type WakesView, wakePartners, wakesView } from "./wakes";
import { type ChangeView, changeSteps } from "./windowChange";

export interface ThreadNames {
  readonly name: string;
  /** Number of threads with this name, including retained ended ones. */
  readonly threads: number;
}

interface NamesView {
  /** Names by appearance of live threads, followed by ended ones. */
  readonly names: readonly ThreadNames[];
  /** Number of names not sent. */
  readonly more: number;
}

/** Maximum number of names sent. */
const MAX_NAMES = 5000;

function namesView({ threads }: TargetModel): NamesView {
  const counts = new Map<string, number>();
  for (const { name } of threads.all()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = Array.from(counts, ([name, count]): ThreadNames => ({ name, threads: count }));
  return { names: names.slice(0, MAX_NAMES), more: Math.max(0, names.length - MAX_NAMES) };
}

export interface FactViews extends Record<FactPart, object> {
  readonly findings: FindingsView;
  readonly change: ChangeView;
  readonly processes: ProcessesView;
  readonly pools: PoolsView;
  readonly wakes: WakesView;
  readonly waiting: WaitingView;
  readonly goroutines: GoroutinesView;
  readonly calls: CallsView;
  readonly thread: ThreadView;
  readonly thread_facts: ThreadFactsView;
  readonly names: NamesView;
}

/** Parts in the order of computation after a changed request. */
export const FACT_PARTS = [
  "findings",
  "change",
  "processes",
  "pools",
  "thread",
  "thread_facts",
  "wakes",
  "waiting",
  "goroutines",
  "calls",
  "names",
] as const satisfies readonly FactPart[];

export function isFactPart(name: string): name is FactPart {
  const parts: readonly string[] = FACT_PARTS;
  return parts.includes(name);
}

/** Whether the page requests this part. */
export function wantsFacts({ facts }: ViewRequest, part: FactPart): boolean {
  return facts.includes(part);
}

type Rules = typeof import("./findings/findings");

let rules: Rules | null = null;
let loading: Promise<void> | null = null;

/** Load the rules of findings, which the start page does not need. Idempotent. */
export function loadFindings(): Promise<void> {
  loading ??= import("./findings/findings").then((loaded) => {
    rules = loaded;
  });
  return loading;
}

export class FactViewMaker {
  private findings: FindingsMaker | null = null;
  /** There was too little data for findings. */
  waiting = true;

  /** Compute one view in steps; nothing if the page does not request it. */
  *make(part: FactPart, input: ViewInput): Steps<Partial<FactViews>> {
    if (!wantsFacts(input.request, part)) return {};
    switch (part) {
      case "findings": {
        if (!rules) {
          void loadFindings();
          return {};
        }
        this.findings ??= new rules.FindingsMaker();
        const findings = yield* this.findings.make(input);
        this.waiting = findings.state === "waiting";
        return { findings };
      }
      case "change":
        return { change: yield* changeSteps(input) };
      case "processes":
        return { processes: processesView(input) };
      case "pools":
        return { pools: poolsView(input) };
      case "wakes":
        return { wakes: wakesView(input) };
      case "waiting":
        return { waiting: waitingView(input, input.request.open_lock) };
      case "goroutines":
        return { goroutines: goroutinesView(input) };
      case "calls":
        return { calls: callsView(input) };
      case "thread": {
        const thread = threadView(input);
        return thread ? { thread } : {};
      }
      case "thread_facts":
        return { thread_facts: threadFactsView(input) };
      case "names":
        return { names: namesView(input.model) };
    }
  }
}

interface ThreadFactsView extends FactsState {
  /** The selected thread, or null if none. */
  readonly key: ThreadKey | null;
  readonly seconds: number;
  readonly locks: readonly ThreadLock[];
  readonly wakers: readonly WakePartner[];
  readonly wakees: readonly WakePartner[];
  /** Threads that ran while the selected thread was in a run queue. */
  readonly takers: readonly TakerRow[];
}

function threadFactsView(input: ViewInput): ThreadFactsView {
  const { model, request, span, now_s } = input;
  const window = model.facts.wakes.window(span.t0_s, Math.min(span.t1_s, now_s));
  const { seconds } = window;
  const none = { seconds, locks: [], wakers: [], wakees: [], takers: [] };
  const thread = model.threads.withKey(request.selected);
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
