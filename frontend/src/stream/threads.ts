/** Threads of a target: live ones, ended ones, and their slots. */

import type { RoleRule } from "../wire/generated/models";
import type { ChartItem, LevelSum, ProcessLife } from "./chartItem";
import { isRuntimeRole, roleOf, sameRules } from "./role";
import { HUES, RoleHues, SHADES } from "./roleHues";
import { type ThreadKey, tidOfKey } from "./viewRequest";

/** One thread, identified by tid and start time: a recycled tid is another thread. */
export interface Thread extends ChartItem {
  readonly tid: number;
  name: string;
  role: string;
  roleIndex: number;
  /** Palette index of its role's colour; see `RoleHues`. */
  hue: number;
  /** Consecutive number among all threads, from 0. */
  readonly number: number;
  colour: number;
  end_s: number | null;
  /**
   * Lifetime, limited to the samples: the start if later than the instant before `seen_s`, the end
   * if earlier than `end_s`.
   */
  readonly from_s: number;
  until_s: number | null;
  life_s: number | null;
  /** Process in a group; null if unknown, or for a single-process target. */
  process: ProcessLife | null;
  /** Sums that include its counters: its role and its process. */
  sums: readonly LevelSum[];
  /** True if the final totals come from the kernel's exit record. */
  exact: boolean;
  /** A counter fell: rates do not span the reset. */
  reset: boolean;
}

/** Slot of the process as a whole. */
export const PROCESS_SLOT = 0;

/**
 * Colour of a thread by identity, the same everywhere: its role's hue, in a shade by tid, so that
 * ranking changes do not recolour it. `colourStyle` (chart/palette.ts) draws it.
 */
export function threadColour(hue: number, tid: number): number {
  return SHADES * hue + (tid % SHADES);
}

/**
 * Colour of a thread in a program with one role, where a single hue would not distinguish threads.
 */
export function numberColour(number: number): number {
  return SHADES * (number % HUES) + (Math.floor(number / HUES) % SHADES);
}

/** Colour of a role as a whole. */
export function roleColour(hue: number): number {
  return SHADES * hue;
}

/** Maximum difference of one thread's start times, which come from ages and clock ticks. */
const SAME_START_NS = 100e6;

/** Whether a start time may belong to this thread. */
export function sameStart(thread: Thread, start_ns: number): boolean {
  return Math.abs(thread.start_ns - start_ns) < SAME_START_NS;
}

/** The newest instant and the previous one, in seconds since attach. */
export interface Instants {
  readonly before_s: number;
  readonly now_s: number;
}

function within(t_s: number, from_s: number, to_s: number): number {
  return Math.max(from_s, Math.min(to_s, t_s));
}

/** Key of a thread: its identity as text. */
export function threadKey(tid: number, start_ns: number): ThreadKey {
  return `${tid}@${start_ns}`;
}

/**
 * Registry of threads. The number of ended ones is bounded; the oldest are forgotten, but their
 * totals stay in the process' totals.
 */
export class Threads {
  readonly live = new Map<number, Thread>();
  readonly ended: Thread[] = [];
  /** Number of ended threads forgotten. */
  folded = 0;
  private readonly free: number[] = [];
  private readonly hues = new RoleHues();
  /** Roles of the program seen so far, up to two. */
  private readonly known = new Set<string>();
  private numbers = 0;
  /** Result of `byTid`; null after a birth or an end. */
  private tids: ReadonlyMap<number, Thread> | null = null;
  private nextSlot = PROCESS_SLOT + 1;

  /**
   * @param roles Numbers of roles, optionally shared with another registry of the same process.
   * @param rules Role rules, which precede the general rule.
   */
  constructor(
    private readonly roles = new Map<string, number>(),
    private readonly maxEnded = 2000,
    private rules: readonly RoleRule[] = [],
  ) {}

  /** Recompute the role of each thread by other rules. */
  applyRules(rules: readonly RoleRule[]): void {
    if (sameRules(rules, this.rules)) return;
    this.rules = rules;
    for (const thread of this.all()) this.rename(thread, thread.name);
  }

  /** All known threads by ID; the latest one if an ID was recycled. */
  get byTid(): ReadonlyMap<number, Thread> {
    if (this.tids === null) {
      const threads = new Map<number, Thread>();
      for (const thread of this.ended) threads.set(thread.tid, thread);
      for (const thread of this.live.values()) threads.set(thread.tid, thread);
      this.tids = threads;
    }
    return this.tids;
  }

  /** The thread of a key; undefined for that of a role, or of a thread that is forgotten. */
  withKey(key: ThreadKey | null): Thread | undefined {
    if (key === null) return undefined;
    const tid = tidOfKey(key);
    if (tid !== null) return this.byTid.get(tid);
    for (const thread of this.all()) if (thread.key === key) return thread;
    return undefined;
  }

  /** One more than the highest slot in use. */
  get slots(): number {
    return this.nextSlot;
  }

  /** Allocate a slot for an item other than a thread. */
  takeSlot(): number {
    return this.free.pop() ?? this.nextSlot++;
  }

  /** Release a slot. */
  freeSlot(slot: number): void {
    this.free.push(slot);
  }

  /** The live thread of this identity. */
  find(tid: number, start_ns: number): Thread | undefined {
    const thread = this.live.get(tid);
    return thread && sameStart(thread, start_ns) ? thread : undefined;
  }

  /** Add a new thread. A live one of the same tid must have been ended. */
  add(
    tid: number,
    start_ns: number,
    name: string,
    { before_s, now_s }: Instants,
    sinceBlock: number,
  ): Thread {
    const role = roleOf(name, this.rules);
    const hue = this.hueOf(role);
    this.note(role);
    const number = this.numbers++;
    const thread: Thread = {
      slot: this.takeSlot(),
      key: threadKey(tid, start_ns),
      tid,
      start_ns,
      name,
      role,
      roleIndex: this.roleIndex(role),
      hue,
      number,
      colour: this.colourOf({ hue, tid, number }),
      sinceBlock,
      seen_s: now_s,
      end_s: null,
      from_s: within(start_ns / 1e9, before_s, now_s),
      until_s: null,
      life_s: null,
      process: null,
      sums: [],
      exact: false,
      reset: false,
    };
    this.live.set(tid, thread);
    this.tids = null;
    return thread;
  }

  /** Forget threads that ended before the visible range. */
  forgetEnded(): void {
    for (const { slot } of this.ended) this.free.push(slot);
    this.ended.length = 0;
    this.tids = null;
  }

  rename(thread: Thread, name: string): void {
    thread.name = name;
    thread.role = roleOf(name, this.rules);
    thread.roleIndex = this.roleIndex(thread.role);
    thread.hue = this.hueOf(thread.role);
    this.note(thread.role);
    thread.colour = this.colourOf(thread);
  }

  /** Palette index of a role, or of another named item. */
  hueOf(name: string): number {
    return this.hues.of(name);
  }

  private colourOf({ hue, tid, number }: Pick<Thread, "hue" | "tid" | "number">): number {
    return this.known.size < 2 ? numberColour(number) : threadColour(hue, tid);
  }

  /** Record a role: from the second role on, hues denote roles. */
  private note(role: string): void {
    if (this.known.size >= 2 || isRuntimeRole(role)) return;
    this.known.add(role);
    if (this.known.size < 2) return;
    for (const thread of this.all()) thread.colour = this.colourOf(thread);
  }

  end(thread: Thread, { before_s, now_s }: Instants, exact: boolean): void {
    const { start_ns, life_s, from_s } = thread;
    const died_s = life_s === null ? now_s : start_ns / 1e9 + life_s;
    thread.end_s = now_s;
    thread.until_s = within(died_s, Math.max(before_s, from_s), now_s);
    thread.exact = exact;
    this.live.delete(thread.tid);
    this.ended.push(thread);
    this.tids = null;
    while (this.ended.length > this.maxEnded) {
      const oldest = this.ended.shift();
      if (oldest) this.free.push(oldest.slot);
      this.folded++;
    }
  }

  /** Number of a role, in order of appearance. */
  roleIndex(role: string): number {
    const known = this.roles.get(role);
    if (known !== undefined) return known;
    // A program with an unbounded number of thread names (by address, say) must not exhaust memory.
    const index = this.roles.size;
    if (index < 10_000) this.roles.set(role, index);
    return index;
  }

  /** Live threads, followed by ended ones, newest first. */
  *all(): Generator<Thread> {
    yield* this.live.values();
    for (let i = this.ended.length - 1; i >= 0; i--) {
      const thread = this.ended[i];
      if (thread) yield thread;
    }
  }
}
