/** The frames' table of processes, as of the newest frame. */

import type { TableRows } from "./facts/factTable";
import type { ProcessRow } from "./lined";

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
