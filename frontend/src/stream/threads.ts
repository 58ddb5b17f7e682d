/** Threads of a target: who is alive, who ended, and which slot of the arrays is whose. */

import type { RoleRule } from "../wire/generated/models";
import type { LevelSum, Lined, ProcessLife } from "./lined";
import { isRuntimeRole, roleOf, sameRules } from "./role";
import { HUES, RoleHues } from "./roleHues";
import type { ThreadKey } from "./viewRequest";

/** One thread. Identity is tid and start time: a tid that is used again is another thread. */
export interface Thread extends Lined {
  readonly tid: number;
  name: string;
  role: string;
  roleIndex: number;
  /** Place of its role's colour; see `RoleHues`. */
  hue: number;
  /** Of all threads that there were, from 0. */
  readonly number: number;
  colour: number;
  end_s: number | null;
  /**
   * When it was there: from its start, if that was after the instant before `seen_s`, to its end, if
   * that was before `end_s`. Never outside of those instants.
   */
  readonly from_s: number;
  until_s: number | null;
  life_s: number | null;
  /** Its process, in a group; null where there is one process only, or that is not known yet. */
  process: ProcessLife | null;
  /** Sums that its counters go into as well: of its role and its process. */
  sums: readonly LevelSum[];
  /** Whether its final totals are the kernel's exit record. */
  exact: boolean;
  /** One of its counters fell: rates do not reach over that. */
  reset: boolean;
}

/** Slot of the process as a whole. */
export const PROCESS_SLOT = 0;

/** Shades that threads of one role have its hue in. */
export const SHADES = 3;

/**
 * Colour of a thread by its identity, the same wherever it is drawn: its role's hue, in a shade by
 * its id, so that it stays when the ranking changes. `colourStyle` (chart/palette.ts) draws it.
 */
export function threadColour(hue: number, tid: number): number {
  return SHADES * hue + (tid % SHADES);
}

/** Colour of a thread where all are of one role: one hue would say nothing. */
export function numberColour(number: number): number {
  return SHADES * (number % HUES) + (Math.floor(number / HUES) % SHADES);
}

/** Colour of a role as a whole. */
export function roleColour(hue: number): number {
  return SHADES * hue;
}

/** Start times come from ages and clock ticks: the same thread's may differ by this much. */
const SAME_START_NS = 100e6;

/** Whether a start time may be this thread's. */
export function sameStart(thread: Thread, start_ns: number): boolean {
  return Math.abs(thread.start_ns - start_ns) < SAME_START_NS;
}

/** The newest instant and the one before it, seconds since attach. */
export interface Instants {
  readonly before_s: number;
  readonly now_s: number;
}

function within(t_s: number, from_s: number, to_s: number): number {
  return Math.max(from_s, Math.min(to_s, t_s));
}

/** Identity of a thread as text. */
export function threadKey(tid: number, start_ns: number): ThreadKey {
  return `${tid}@${start_ns}`;
}

/**
 * The book of threads. Ended ones are kept up to a bound; the oldest are then forgotten, their
 * totals stay in the totals of the process.
 */
export class Threads {
  readonly live = new Map<number, Thread>();
  readonly ended: Thread[] = [];
  /** Ended threads that were forgotten. */
  folded = 0;
  private readonly free: number[] = [];
  private readonly hues = new RoleHues();
  /** Roles of the program that threads have had, up to the second. */
  private readonly known = new Set<string>();
  private numbers = 0;
  private nextSlot = PROCESS_SLOT + 1;

  /**
   * @param roles Numbers of roles; given, they are shared with another book of the same process.
   * @param rules By which threads have roles, before the general rule.
   */
  constructor(
    private readonly roles = new Map<string, number>(),
    private readonly maxEnded = 2000,
    private rules: readonly RoleRule[] = [],
  ) {}

  /** Put all threads into roles by other rules. */
  applyRules(rules: readonly RoleRule[]): void {
    if (sameRules(rules, this.rules)) return;
    this.rules = rules;
    for (const thread of this.all()) this.rename(thread, thread.name);
  }

  /** One more than the highest slot in use. */
  get slots(): number {
    return this.nextSlot;
  }

  /** A slot for what is not a thread. */
  takeSlot(): number {
    return this.free.pop() ?? this.nextSlot++;
  }

  /** A slot that is not used any more. */
  freeSlot(slot: number): void {
    this.free.push(slot);
  }

  /** The live thread of this identity. */
  find(tid: number, start_ns: number): Thread | undefined {
    const thread = this.live.get(tid);
    return thread && sameStart(thread, start_ns) ? thread : undefined;
  }

  /** A thread that was not there before. A live one of the same tid must have been ended. */
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
    return thread;
  }

  /** Forget those that ended: what is looked at begins after their end. */
  forgetEnded(): void {
    for (const { slot } of this.ended) this.free.push(slot);
    this.ended.length = 0;
  }

  rename(thread: Thread, name: string): void {
    thread.name = name;
    thread.role = roleOf(name, this.rules);
    thread.roleIndex = this.roleIndex(thread.role);
    thread.hue = this.hueOf(thread.role);
    this.note(thread.role);
    thread.colour = this.colourOf(thread);
  }

  /** Place of the colour of a role, or of what else has a name. */
  hueOf(name: string): number {
    return this.hues.of(name);
  }

  private colourOf({ hue, tid, number }: Pick<Thread, "hue" | "tid" | "number">): number {
    return this.known.size < 2 ? numberColour(number) : threadColour(hue, tid);
  }

  /** With a second role hues are for roles. */
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
    // A program that names threads without end (by address, say) must not fill the memory.
    const index = this.roles.size;
    if (index < 10_000) this.roles.set(role, index);
    return index;
  }

  /** Live threads, then ended ones, newest first. */
  *all(): Generator<Thread> {
    yield* this.live.values();
    for (let i = this.ended.length - 1; i >= 0; i--) {
      const thread = this.ended[i];
      if (thread) yield thread;
    }
  }
}
