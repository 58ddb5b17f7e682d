/** The processes of a group, with their resource use since attach and within the window. */

import type { ProcessLife, ProcessRow } from "./chartItem";
import type { RingField } from "./chartSpecs";
import type { ViewInput } from "./chartView";
import { growth, type NamedProcess } from "./rank";
import { ringOf } from "./series";
import type { ThreadKey } from "./viewRequest";

export interface ProcessRowView {
  /** Key of the process, equal to its chart lines' key; stable. */
  readonly key: ThreadKey;
  /** Process ID, or null for ended processes of one name. */
  readonly pid: number | null;
  /** Number of processes in the row; more than 1 for folded ended ones. */
  readonly count: number;
  readonly live: boolean;
  readonly name: string;
  readonly title: string;
  /** Name and pid of its parent; "" if the parent is outside the group. */
  readonly parent: string;
  readonly user: string;
  readonly container: string;
  readonly unit: string;
  /** See `threadColour`; null without a line. */
  readonly colour: number | null;
  /** CPU within the window, in cores; NaN if its line was dropped. */
  readonly cores: number;
  /** CPU since attach. */
  readonly cpu_ns: number;
  /** Figures of the frames' table, by column. */
  readonly figures: Readonly<Record<string, number>>;
}

export interface ProcessesView {
  readonly state: "ok" | "waiting";
  /** Sorted by CPU within the window, then since attach, both descending. */
  readonly rows: readonly ProcessRowView[];
  /** Number of processes in rows not sent, and their CPU since attach, ns. */
  readonly more: number;
  readonly more_cpu_ns: number;
  /** Rows that the collector dropped. */
  readonly omitted: number;
}

/** Maximum number of rows sent; further ones used less CPU. */
const MAX_ROWS = 150;

/** All processes that match the filter. */
export function processesView(input: ViewInput): ProcessesView {
  const { model, filter, span, now_s } = input;
  const { rows, omitted } = model.processes;
  const stretches = model.history.between(span.t0_s, Math.min(span.t1_s, now_s));
  const { n, time_s } = stretches;
  const seconds = n > 1 ? (time_s[n - 1] ?? 0) - (time_s[0] ?? 0) : 0;
  const rings = [ringOf("cpu_run_ns" satisfies RingField)];
  const lives = new Map<number, ProcessLife>();
  for (const life of model.levels.processes()) if (life.row) lives.set(life.row.process, life);
  const views: ProcessRowView[] = [];
  for (const row of rows.values()) {
    const process: NamedProcess = { pid: row.pid, name: row.name, row };
    if (!filter.fits({ tid: null, name: row.name, role: "", process })) continue;
    const life = lives.get(row.process);
    const cores =
      life && seconds > 0 ? growth(model, stretches, life, rings) / 1e9 / seconds : Number.NaN;
    views.push(viewOf(row, life, cores, rows));
  }
  views.sort((a, b) => (b.cores || 0) - (a.cores || 0) || b.cpu_ns - a.cpu_ns);
  const rest = views.slice(MAX_ROWS);
  return {
    state: model.processes.edition > 0 ? "ok" : "waiting",
    rows: views.slice(0, MAX_ROWS),
    more: rest.reduce((sum, { count }) => sum + count, 0),
    more_cpu_ns: rest.reduce((sum, row) => sum + row.cpu_ns, 0),
    omitted,
  };
}

function viewOf(
  {
    process,
    pid,
    parent,
    count,
    live,
    name,
    title,
    user,
    container,
    unit,
    cpu_ns,
    figures,
  }: ProcessRow,
  life: ProcessLife | undefined,
  cores: number,
  rows: ReadonlyMap<number, ProcessRow>,
): ProcessRowView {
  const above = rows.get(parent);
  return {
    key: life?.key ?? `process:#${process}`,
    pid: pid > 0 ? pid : null,
    ...{ count, live, name, title, user, container, unit, cpu_ns, figures, cores },
    parent: above ? `${above.name} (${above.pid})` : "",
    colour: life?.colour ?? null,
  };
}
