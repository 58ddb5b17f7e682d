/** Wake-ups within the visible window, summed from role to role. */

import type { ViewInput } from "./chartView";
import { WAKES } from "./facts/facts";
import type { FactWindow } from "./facts/factTable";
import { areAlike, mainThreads } from "./facts/mainThreads";
import {
  type FactsState,
  ledgerState,
  type Outside,
  outsideParties,
  type Party,
  type PartyKind,
  rolePartyOf,
} from "./facts/parties";
import { nameAndPlace } from "./facts/places";
import type { TargetModel } from "./targetModel";
import type { ThreadKey } from "./viewRequest";

/** Statistics of some wake-ups over a window. */
export interface WakeFigures {
  readonly per_s: number;
  /** Thread-seconds per second of waiting by the woken threads. */
  readonly blocked: number;
  /**
   * Means per wake-up, in seconds: the wait ended by the wake-up, and the delay until the thread
   * ran.
   */
  readonly blocked_s: number;
  readonly delay_s: number;
}

export interface WakeNode extends Party {
  /** Number of live threads of a role; 0 for other parties. */
  readonly threads: number;
  readonly gives_per_s: number;
  readonly gets_per_s: number;
}

export interface WakeEdge extends WakeFigures {
  /** Stable key: the keys of both ends. */
  readonly key: string;
  readonly from: ThreadKey;
  readonly to: ThreadKey;
  /** Part of `blocked` that threads end for others that do the same work. */
  readonly among: number;
}

/** The wake-up graph of a window. */
export interface WakesView extends FactsState {
  readonly seconds: number;
  /** Most wake-ups first. */
  readonly nodes: readonly WakeNode[];
  readonly edges: readonly WakeEdge[];
  /** Thread pairs dropped by the collector for lack of space. */
  readonly omitted: number;
}

/** A waker or wakee of a thread. */
export interface WakePartner extends WakeFigures {
  /** Key of the thread, or of the `Party` outside the target. */
  readonly key: ThreadKey;
  readonly tid: number | null;
  readonly name: string;
  readonly kind: PartyKind;
  readonly colour: number | null;
}

/** Sums over wake-ups. */
interface Sums {
  count: number;
  blocked_ns: number;
  delay_ns: number;
}

export function wakesView(input: ViewInput): WakesView {
  const { model, span, now_s, target } = input;
  const { wakes } = model.facts;
  const window = wakes.window(span.t0_s, Math.min(span.t1_s, now_s));
  const base = ledgerState(input, window);
  const { seconds } = window;
  const none = { ...base, seconds, nodes: [], edges: [], omitted: wakes.omitted };
  if (base.state !== "ok") return none;
  const threads = model.threads.byTid;
  const own_pids = model.levels.pids(target);
  const outside = outsideParties(input, wakersOutside(model, own_pids));
  const parties = new Map<ThreadKey, Party>();
  const edges = new Map<string, { from: Party; to: Party; sums: Sums; among_ns: number }>();
  const main = mainThreads(model);
  for (const slot of wakes.all()) {
    const sums = grownOf(model, window, slot);
    if (sums.count === 0) continue;
    const wakee = threads.get(wakes.key(slot, WAKES.wakee_tid));
    const waker = threads.get(wakes.key(slot, WAKES.waker_tid));
    const own = own_pids.has(wakes.key(slot, WAKES.waker_pid));
    const from = own ? rolePartyOf(waker) : outside(wakerOutside(model, slot));
    const to = rolePartyOf(wakee);
    const alike = own && waker && wakee && areAlike(waker, wakee, main);
    const among_ns = alike ? sums.blocked_ns : 0;
    parties.set(from.key, from);
    parties.set(to.key, to);
    const key = `${from.key}>${to.key}`;
    const held = edges.get(key);
    if (held) {
      addTo(held.sums, sums);
      held.among_ns += among_ns;
    } else edges.set(key, { from, to, sums, among_ns });
  }
  const made = Array.from(
    edges,
    ([key, { from, to, sums, among_ns }]): WakeEdge => ({
      key,
      from: from.key,
      to: to.key,
      among: among_ns / 1e9 / seconds,
      ...figuresOf(sums, seconds),
    }),
  );
  made.sort((a, b) => b.per_s - a.per_s || (a.key < b.key ? -1 : 1));
  return { ...none, edges: made, nodes: nodesOf(model, parties, made) };
}

/** Wakers or wakees of a thread; most wake-ups first. */
export function wakePartners(
  input: ViewInput,
  tid: number,
  direction: "wakers" | "wakees",
): readonly WakePartner[] {
  const { model, span, now_s, target } = input;
  const { wakes } = model.facts;
  const window = wakes.window(span.t0_s, Math.min(span.t1_s, now_s));
  const threads = model.threads.byTid;
  const own_pids = model.levels.pids(target);
  const partyOutside = outsideParties(input, wakersOutside(model, own_pids));
  const [own, other] =
    direction === "wakers"
      ? [WAKES.wakee_tid, WAKES.waker_tid]
      : [WAKES.waker_tid, WAKES.wakee_tid];
  const found = new Map<ThreadKey, { partner: Omit<WakePartner, keyof WakeFigures>; sums: Sums }>();
  for (const slot of wakes.all()) {
    if (wakes.key(slot, own) !== tid) continue;
    // A thread of another process, in another namespace, may have the ID of one of the target's
    // threads.
    const ours = own_pids.has(wakes.key(slot, WAKES.waker_pid));
    if (direction === "wakees" && !ours) continue;
    const sums = grownOf(model, window, slot);
    if (sums.count === 0) continue;
    const outside = direction === "wakers" && !ours;
    const thread = outside ? undefined : threads.get(wakes.key(slot, other));
    const party = outside ? partyOutside(wakerOutside(model, slot)) : rolePartyOf(thread);
    const key = thread?.key ?? party.key;
    const held = found.get(key);
    if (held) {
      addTo(held.sums, sums);
      continue;
    }
    const { kind, colour } = party;
    const partner = thread
      ? { key, tid: thread.tid, name: thread.name, kind, colour: thread.colour }
      : { key, tid: null, name: nameAndPlace(party), kind, colour };
    found.set(key, { partner, sums });
  }
  const partners = Array.from(found.values(), ({ partner, sums }) => ({
    ...partner,
    ...figuresOf(sums, window.seconds),
  }));
  return partners.sort((a, b) => b.per_s - a.per_s || (a.key < b.key ? -1 : 1));
}

function grownOf({ facts }: TargetModel, window: FactWindow, slot: number): Sums {
  const count = facts.wakes.grown(window, slot, WAKES.count);
  if (count === 0) return { count, blocked_ns: 0, delay_ns: 0 };
  const blocked_ns = facts.wakes.grown(window, slot, WAKES.blocked_ns);
  return { count, blocked_ns, delay_ns: facts.wakes.grown(window, slot, WAKES.delay_ns) };
}

function addTo(sums: Sums, more: Sums): void {
  sums.count += more.count;
  sums.blocked_ns += more.blocked_ns;
  sums.delay_ns += more.delay_ns;
}

function figuresOf({ count, blocked_ns, delay_ns }: Sums, seconds: number): WakeFigures {
  return {
    per_s: count / seconds,
    blocked: blocked_ns / 1e9 / seconds,
    blocked_s: blocked_ns / 1e9 / count,
    delay_s: delay_ns / 1e9 / count,
  };
}

function wakerOutside({ facts: { wakes } }: TargetModel, slot: number): Outside {
  return {
    pid: wakes.key(slot, WAKES.waker_pid),
    party: wakes.key(slot, WAKES.party),
    kernel: wakes.fact(slot, WAKES.waker_kernel) === 1,
    name: wakes.text(slot, WAKES.waker_name),
  };
}

function* wakersOutside(model: TargetModel, own_pids: ReadonlySet<number>): Generator<Outside> {
  for (const slot of model.facts.wakes.all()) {
    const waker = wakerOutside(model, slot);
    if (!own_pids.has(waker.pid)) yield waker;
  }
}

function nodesOf(
  model: TargetModel,
  parties: ReadonlyMap<ThreadKey, Party>,
  edges: readonly WakeEdge[],
): readonly WakeNode[] {
  const counts = new Map<ThreadKey, number>();
  for (const { role } of model.threads.live.values()) {
    counts.set(`role:${role}`, (counts.get(`role:${role}`) ?? 0) + 1);
  }
  const sums = new Map<ThreadKey, { gives: number; gets: number }>();
  for (const key of parties.keys()) sums.set(key, { gives: 0, gets: 0 });
  for (const { from, to, per_s } of edges) {
    const [giver, getter] = [sums.get(from), sums.get(to)];
    if (giver) giver.gives += per_s;
    if (getter) getter.gets += per_s;
  }
  const nodes = Array.from(parties.values(), (party): WakeNode => {
    const { gives = 0, gets = 0 } = sums.get(party.key) ?? {};
    const threads = counts.get(party.key) ?? 0;
    return { ...party, threads, gives_per_s: gives, gets_per_s: gets };
  });
  const weight = ({ gives_per_s, gets_per_s }: WakeNode): number => gives_per_s + gets_per_s;
  return nodes.sort((a, b) => weight(b) - weight(a) || (a.key < b.key ? -1 : 1));
}

/** Minimum share of the waiting of a role that one party ends. */
const PEER_SHARE = 0.5;

/** A party outside of the target, or several processes of one name. */
export interface Peer {
  readonly name: string;
  readonly several: boolean;
  /** Wake-ups by it a second. */
  readonly per_s: number;
}

/**
 * The party outside of the target that ends most of a role's waiting, or several processes of one
 * name; null if none do.
 * @param key "role:NAME".
 */
export function peerOf({ edges, nodes }: WakesView, key: string): Peer | null {
  const wakers = edges.filter(({ from, to }) => to === key && !from.startsWith("role:"));
  const most = PEER_SHARE * wakers.reduce((sum, { blocked }) => sum + blocked, 0);
  const parties = new Map(nodes.map((node) => [node.key, node]));
  const byName = new Map<string, { nodes: WakeNode[]; blocked: number; per_s: number }>();
  for (const { from, blocked, per_s } of wakers) {
    const party = parties.get(from);
    if (!party || blocked <= 0) continue;
    if (blocked >= most)
      return party.kind === "kernel" ? null : { name: partyName(party), several: false, per_s };
    if (party.kind !== "process") continue;
    const name = party.name.replace(/ \(\d+\)$/, "");
    const same = byName.get(name) ?? { nodes: [], blocked: 0, per_s: 0 };
    same.nodes.push(party);
    same.blocked += blocked;
    same.per_s += per_s;
    byName.set(name, same);
  }
  for (const [name, { nodes: same, blocked, per_s }] of byName) {
    if (blocked >= most)
      return { name: `${same.length} processes of ${name}`, several: true, per_s };
  }
  return null;
}

function partyName(party: WakeNode): string {
  if (party.kind === "process") return `process ${nameAndPlace(party)}`;
  return party.kind === "interrupt" ? "the other side" : party.name;
}
