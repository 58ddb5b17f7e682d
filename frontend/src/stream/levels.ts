/**
 * Levels above threads: the roles of a target, and the processes of a group. Each has a slot of its own
 * with the sums of its threads, ended ones included, so that a line can be of it (counterTable.ts adds
 * them up).
 */

import type { Target } from "../wire/generated/models";
import type { CounterTable } from "./counterTable";
import type { LevelSum, ProcessLife, ProcessRow } from "./lined";
import { roleColour, type Thread, type Threads, threadColour, threadKey } from "./threads";

/** Roles beyond these have no line of their own; they are among the others. */
const MAX_ROLES = 1000;
/** Ended processes that keep their line; older ones are among the others. */
const MAX_ENDED = 300;

export class Levels {
  readonly roles = new Map<string, LevelSum>();
  /** Processes that live, by pid; none where the target is one process. */
  readonly live = new Map<number, ProcessLife>();
  /** Processes that ended, oldest first. */
  readonly ended: ProcessLife[] = [];

  constructor(
    private readonly threads: Threads,
    private readonly counters: CounterTable,
    private readonly blockId: () => number,
  ) {}

  /** Whether the target is a group of processes. */
  get grouped(): boolean {
    return this.live.size > 0 || this.ended.length > 0;
  }

  /** Ids of the processes of the target; a kept one of those that ended is among them. */
  pids(target: Pick<Target, "process"> | null): ReadonlySet<number> {
    const pids = new Set(target ? [target.process.pid] : []);
    for (const { pid } of this.processes()) pids.add(pid);
    return pids;
  }

  /** The process of an id; of several that had it the last. */
  processWith(pid: number): ProcessLife | undefined {
    return this.live.get(pid) ?? this.ended.findLast((life) => life.pid === pid);
  }

  /** Processes that live, then ended ones. */
  *processes(): Generator<ProcessLife> {
    yield* this.live.values();
    yield* this.ended;
  }

  /**
   * A thread is there.
   *
   * @param pid Its process; null: that is not known, or the target is one process.
   */
  enter(thread: Thread, pid: number | null, now_s: number): void {
    if (pid !== null) {
      thread.process = this.processOf(pid, thread, now_s);
      thread.process.live++;
      if (thread.tid === pid) this.rename(thread.process, thread.name);
    }
    this.renamed(thread, now_s);
  }

  /** A thread is another role's from now on: what it did before stays where it was. */
  renamed(thread: Thread, now_s: number): void {
    const role = this.roleOf(thread, now_s);
    const { process } = thread;
    thread.sums = [role, process].flatMap((sum) => (sum ? [sum] : []));
    if (process && process.pid === thread.tid) this.rename(process, thread.name);
  }

  /** A thread ended. */
  leave({ process }: Thread, now_s: number): void {
    if (!process) return;
    process.live--;
    if (process.live > 0 || process.end_s !== null) return;
    process.end_s = now_s;
    this.live.delete(process.pid);
    this.ended.push(process);
    while (this.ended.length > MAX_ENDED) this.forgetOldest();
  }

  /** Forget processes that ended: what is looked at begins after their end. */
  forgetEnded(): void {
    while (this.ended.length > 0) this.forgetOldest();
  }

  /** What the frames' table says of the processes that live. */
  describe(rows: Iterable<ProcessRow>): void {
    for (const row of rows) {
      const life = row.pid > 0 ? this.live.get(row.pid) : undefined;
      if (life && (row.live || life.row?.process === row.process)) life.row = row;
    }
  }

  private processOf(pid: number, thread: Thread, now_s: number): ProcessLife {
    const held = this.live.get(pid) ?? this.revived(pid, now_s);
    if (held) return held;
    const life: ProcessLife = {
      ...this.newSum(`process:${threadKey(pid, thread.start_ns)}`, thread, now_s),
      ...{ pid, row: null, colour: 0 },
    };
    this.live.set(pid, life);
    this.rename(life, thread.name);
    return life;
  }

  /** Execve by another thread ends all threads of a process, and it lives on at the same instant. */
  private revived(pid: number, now_s: number): ProcessLife | undefined {
    if (this.ended.at(-1)?.end_s !== now_s) return undefined;
    const life = this.ended.findLast((each) => each.pid === pid);
    if (life?.end_s !== now_s) return undefined;
    this.ended.splice(this.ended.lastIndexOf(life), 1);
    life.end_s = null;
    this.live.set(pid, life);
    return life;
  }

  /** A process' name is that of its main thread; its colour is by name, in a shade by pid. */
  private rename(life: ProcessLife, name: string): void {
    life.name = name;
    life.colour = threadColour(this.threads.hueOf(`process ${name}`), life.pid);
  }

  private roleOf(thread: Thread, now_s: number): LevelSum | null {
    const { role, hue } = thread;
    const held = this.roles.get(role);
    if (held) return held;
    if (this.roles.size >= MAX_ROLES) return null;
    const made = {
      ...this.newSum(`role:${role}`, thread, now_s),
      ...{ name: role, role, colour: roleColour(hue) },
    };
    this.roles.set(role, made);
    return made;
  }

  private newSum(
    key: string,
    { name, start_ns }: Thread,
    now_s: number,
  ): LevelSum & { name: string } {
    const slot = this.threads.takeSlot();
    this.counters.clearSum(slot);
    return {
      ...{ slot, key, name, start_ns, tid: null, role: "", colour: 0 },
      ...{ sinceBlock: this.blockId(), seen_s: now_s, end_s: null, life_s: null },
      ...{ live: 0, changed: 0 },
    };
  }

  private forgetOldest(): void {
    const oldest = this.ended.shift();
    if (!oldest) return;
    this.threads.freeSlot(oldest.slot);
  }
}
