/** The frames' table of processes, as of the newest frame, and sizes of Go programs over time. */

import type { ProcessRow } from "./chartItem";
import type { TableRows } from "./facts/factTable";
import { GaugeLog } from "./gaugeLog";

/** Columns that are members of a row; all others are figures. */
const OWN: ReadonlySet<string> = new Set([
  ...["process", "pid", "parent", "count", "live"],
  ...["name", "title", "user", "container", "unit"],
]);

export class ProcessTable {
  /** Rows by process number. */
  readonly rows = new Map<number, ProcessRow>();
  /** Names of the figure columns, in order. */
  columns: readonly string[] = [];
  /** Rows that the collector dropped. */
  omitted = 0;
  /** Incremented with each table. */
  edition = 0;

  /**
   * Set the table of a frame.
   * @param whole True if the table has all rows, as in a key frame; otherwise only changed ones.
   */
  take(table: TableRows, omitted: number, whole: boolean): void {
    if (whole) this.rows.clear();
    this.omitted = omitted;
    this.edition++;
    const { columns } = table;
    this.columns = Object.keys(columns).filter((name) => !OWN.has(name));
    for (let at = 0; at < table.rows; at++) {
      const number = (name: string): number => Number(columns[name]?.[at] ?? 0);
      const text = (name: string): string => String(columns[name]?.[at] ?? "");
      const process = number("process");
      // A row with count 0 is gone: it now counts under its name.
      if (number("count") === 0) {
        this.rows.delete(process);
        continue;
      }
      this.rows.set(process, {
        process,
        pid: number("pid"),
        parent: number("parent"),
        count: number("count"),
        live: number("live") > 0,
        name: text("name"),
        title: text("title"),
        user: text("user"),
        container: text("container"),
        unit: text("unit"),
        cpu_ns: number("cpu_ns"),
        figures: Object.fromEntries(this.columns.map((name) => [name, number(name)])),
      });
    }
  }
}

/**
 * Maximum number of programs kept. The oldest ended ones are evicted first, otherwise the newest.
 */
const KEPT = 128;

export class ProgramSizes {
  /** Logs by process ID, in order of first sight. */
  readonly logs = new Map<number, GaugeLog>();

  constructor(private readonly maxAge_s: number) {}

  /**
   * Record the table of processes of a frame.
   * @param whole True if the table has all rows, as in a key frame; otherwise only changed ones.
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
   * Record a size change.
   * @param since_s First sight of the program, from which on the previous size is assumed.
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

  /** Forget the oldest ended program, if any. */
  private forgetEnded(): boolean {
    for (const [pid, log] of this.logs) {
      if (Number.isNaN(log.last)) return this.logs.delete(pid);
    }
    return false;
  }
}
