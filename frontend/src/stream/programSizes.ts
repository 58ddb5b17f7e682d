/** GOMAXPROCS of each Go program of a group over time, bounded. */

import type { TableRows } from "./facts/factTable";
import { GaugeLog } from "./gaugeLog";

/** Programs that are remembered; of those that ended the oldest go first, of others the newest. */
const KEPT = 128;

export class ProgramSizes {
  /** By process id, in the order in which they were seen first. */
  readonly logs = new Map<number, GaugeLog>();

  constructor(private readonly maxAge_s: number) {}

  /**
   * The table of processes of a frame.
   *
   * @param whole It has all rows, as that of a key frame; else those that changed.
   */
  take({ rows, columns }: TableRows, whole: boolean, now_s: number): void {
    const gone = new Set(whole ? this.logs.keys() : []);
    for (let at = 0; at < rows; at++) {
      const number = (name: string): number => Number(columns[name]?.[at] ?? 0);
      const pid = number("pid");
      const size = pid > 0 && number("live") > 0 ? number("gomaxprocs") : 0;
      gone.delete(pid);
      if (size > 0) this.of(pid)?.note(now_s, size);
      else this.logs.get(pid)?.note(now_s, Number.NaN);
    }
    for (const pid of gone) this.logs.get(pid)?.note(now_s, Number.NaN);
  }

  /**
   * A program changed its size.
   *
   * @param since_s When the program was seen first: it had its previous size from then on, as far as
   *   is known.
   */
  change(pid: number, size: number, previous: number, now_s: number, since_s: number): void {
    const known = this.logs.get(pid)?.last !== undefined;
    const log = this.of(pid);
    if (!known) log?.note(since_s, previous);
    log?.note(now_s, size);
  }

  private of(pid: number): GaugeLog | null {
    const held = this.logs.get(pid);
    if (held) return held;
    if (this.logs.size >= KEPT && !this.forgetEnded()) return null;
    const log = new GaugeLog(this.maxAge_s);
    this.logs.set(pid, log);
    return log;
  }

  /** Forget the oldest one that ended, if there is one. */
  private forgetEnded(): boolean {
    for (const [pid, log] of this.logs) {
      if (Number.isNaN(log.last)) return this.logs.delete(pid);
    }
    return false;
  }
}
