/**
 * Levels above threads: the roles of a target, and the processes of a group. Each has a slot with
 * the sums of its threads, including ended ones, so that it can have a line (counterTable.ts
 * computes the sums).
 */

import type { Target } from "../wire/generated/models";
import type { LevelSum, ProcessLife, ProcessRow } from "./chartItem";
import type { CounterTable } from "./counterTable";
import { roleColour, type Thread, type Threads, threadColour, threadKey } from "./threads";

/** Maximum number of roles with their own line; further ones are part of the others. */
const MAX_ROLES = 1000;
/** Maximum number of ended processes with their own line; older ones are part of the others. */
const MAX_ENDED = 300;

export class Levels {
  readonly roles = new Map<string, LevelSum>();
  /** Live processes by pid; empty for a single-process target. */
  readonly live = new Map<number, ProcessLife>();
  /** Ended processes, oldest first. */
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

  /** IDs of the target's processes, including retained ended ones. */
  pids(target: Pick<Target, "process"> | null): ReadonlySet<number> {
    const pids = new Set(target ? [target.process.pid] : []);
    for (const { pid } of this.processes()) pids.add(pid);
    return pids;
  }

  /** The process with an ID; the latest one if the ID was recycled. */
  processWith(pid: number): ProcessLife | undefined {
    return this.live.get(pid) ?? this.ended.findLast((life) => life.pid === pid);
  }

  /** Live processes, followed by ended ones. */
  *processes(): Generator<ProcessLife> {
    yield* this.live.values();
    yield* this.ended;
  }

  /**
   * Add a thread.
   * @param pid Its process, or null if unknown or for a single-process target.
   */
  enter(thread: Thread, pid: number | null, now_s: number): void {
    if (pid !== null) {
      thread.process = this.processOf(pid, thread, now_s);
      thread.process.live++;
      if (thread.tid === pid) this.rename(thread.process, thread.name);
    }
    this.renamed(thread, now_s);
  }

  /** Move a thread to another role; its earlier counts stay with the old one. */
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

  /** Forget processes that ended before the retained past. */
  forgetEnded(): void {
    while (this.ended.length > 0) this.forgetOldest();
  }

  /** Set properties of live processes from the frames' table. */
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

  /**
   * Detect an execve by a non-main thread, which ends all threads of a process that lives on at the
   * same instant.
   */
  private revived(pid: number, now_s: number): ProcessLife | undefined {
    if (this.ended.at(-1)?.end_s !== now_s) return undefined;
    const life = this.ended.findLast((each) => each.pid === pid);
    if (life?.end_s !== now_s) return undefined;
    this.ended.splice(this.ended.lastIndexOf(life), 1);
    life.end_s = null;
    this.live.set(pid, life);
    return life;
  }

  /**
   * Set a process' name to its main thread's; its colour depends on the name, the shade on the pid.
   */
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
