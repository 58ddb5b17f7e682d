/** The time breakdown chart: growth of counters per thread and column, split into parts. */

import {
  added,
  NO_PARTS,
  noTimes,
  type Part,
  partName,
  type RawTimes,
  split,
  TIME_PARTS,
} from "./breakdown";
import { emptyView, PLAIN_LINE, threadsIn, type ViewInput, whyAbsent } from "./chartView";
import type { Stretches } from "./history";
import { finished, STEP_THREADS, type Steps } from "./steps";
import { PROCESS_SLOT, roleColour } from "./threads";
import { ColumnSums, GrowthReader } from "./timesGrowth";
import { type Cut, edgesOf, type Gathered, gatherLedgers, scopeOf } from "./timesLedger";
import type { ChartRequest } from "./viewRequest";
import type { ChartView, LineView, TimesRow, TimesView } from "./views";

/**
 * Minimum length of a column, in seconds: CPU time of a running thread moves in scheduler ticks.
 */
const MIN_S = 0.5;
const MAX_COLUMNS = 150;

export function timesView(input: ViewInput, request: ChartRequest): ChartView {
  return finished(timesSteps(input, request));
}

/**
 * `timesView` in steps of some threads each, so that frames can be ingested in between. New frames
 * do not affect the result: instants of the window are immutable.
 */
export function* timesSteps(input: ViewInput, { width_px }: ChartRequest): Steps<ChartView> {
  const { model, span, now_s } = input;
  const ledgers = model.states.there;
  const missing = ledgers
    ? undefined
    : (["cpu_run_ns", "cpu_delay_ns"] as const).find((field) => model.counters.columnOf(field) < 0);
  if (missing !== undefined) {
    return emptyView(input, "times", "absent", whyAbsent(input, missing));
  }
  const columns = Math.max(8, Math.min(MAX_COLUMNS, Math.floor(width_px / 4)));
  const width_s = Math.max(MIN_S, (span.t1_s - span.t0_s) / columns);
  const end_s = Math.min(span.t1_s, now_s);
  const { history } = ledgers ? model.states : model;
  const stretches = history.between(Math.floor(span.t0_s / width_s) * width_s, end_s);
  const edges = edgesOf(stretches, width_s);
  if (edges.length < 2) return emptyView(input, "times", "waiting", "not enough data yet");
  const gathered = yield* (ledgers ? gatherLedgers : gather)(input, stretches, edges);
  return { ...emptyView(input, "times", "ok", ""), ...bands(gathered), step: true, y_max: 1 };
}

/** Sums over some threads: with delays, and without. */
interface Sums {
  readonly full: RawTimes;
  readonly bare: RawTimes;
}

function noSums(): Sums {
  return { full: noTimes(true), bare: noTimes(false) };
}

/** Threads of a role (or all shown ones), within the window. */
class RowSums {
  readonly sums = noSums();
  threads = 0;
  constructor(readonly hue: number) {}
}

/** Go through all threads once. */
function* gather(
  input: ViewInput,
  stretches: Stretches,
  edges: readonly number[],
): Steps<Gathered> {
  const { model, target } = input;
  const time_s = Float64Array.from(edges, (at) => stretches.time_s[at] ?? 0);
  const off = switchedOff(input, time_s);
  const anyOff = off.includes(true);
  const full = new ColumnSums(time_s);
  const bare = new ColumnSums(time_s);
  const roles = new Map<string, RowSums>();
  const { scope, name, has } = scopeOf(input);
  const reader = new GrowthReader(input, stretches, edges, time_s);
  const wholeRow = new RowSums(0);
  let bareThreads = 0;
  // A snapshot: between two steps, threads may be added or forgotten.
  for (const [place, thread] of [...threadsIn(input)].entries()) {
    if (place % STEP_THREADS === STEP_THREADS - 1) yield undefined;
    if (!reader.load(thread)) continue;
    let role = roles.get(thread.role);
    if (!role) {
      role = new RowSums(thread.hue);
      roles.set(thread.role, role);
    }
    const within = has(thread);
    role.threads++;
    if (within) {
      wholeRow.threads++;
      if (!reader.delays) bareThreads++;
    }
    const rows = within ? [role.sums, wholeRow.sums] : [role.sums];
    if (reader.delays && anyOff) {
      for (const [c, isOff] of off.entries()) {
        for (const row of rows) reader.giveTo(isOff ? row.bare : row.full, c, c + 1);
        if (within) (isOff ? bare : full).addColumn(reader, c);
      }
      continue;
    }
    for (const row of rows) reader.giveTo(reader.delays ? row.full : row.bare, 0, off.length);
    if (within) (reader.delays ? full : bare).add(reader);
  }
  const columns = off.map((_, c) => {
    const sums = noSums();
    full.giveTo(sums.full, c);
    bare.giveTo(sums.bare, c);
    return sums;
  });
  const version = target?.source.taskstats_version ?? null;
  const irqTotal =
    model.counters.latest[PROCESS_SLOT + Math.max(0, model.counters.columnOf("irq_delay_ns"))] ?? 0;
  const irq = model.counters.columnOf("irq_delay_ns") >= 0 && irqTotal > 0;
  const cut = (sums: Sums): Cut => {
    const parts = { ...NO_PARTS, ...partsOf(sums, version !== null && version < 11) };
    if (!irq) parts.irq = Number.NaN;
    return { wall_s: sums.full.wall + sums.bare.wall, parts };
  };
  const rowOf = (key: string, label: string, { hue, threads, sums }: RowSums): TimesRow => ({
    key,
    name: label,
    colour: roleColour(hue),
    threads,
    folded_s: 0,
    ...cut(sums),
  });
  const rows = Array.from(roles, ([role, sums]) => rowOf(`role:${role}`, role, sums));
  const busy = ({ wall_s, parts }: TimesRow): number => wall_s - parts.rest - parts.unsplit;
  rows.sort((a, b) => busy(b) - busy(a) || (a.name < b.name ? -1 : 1));
  return {
    scope: { scope, name },
    time_s,
    cuts: columns.map(cut),
    whole: rowOf("", name, wholeRow),
    roles: rows,
    absent: absences(input, {
      irq,
      bare: bareThreads,
      threads: wholeRow.threads,
      off: anyOff,
    }),
    ledger: false,
    no_ledger: target?.source.ledger_reason ?? null,
  };
}

function partsOf({ full, bare }: Sums, swapinSleeps: boolean): Record<Part, number> {
  const cuts = [full, bare].filter((raw) => raw.wall > 0);
  if (cuts.length === 0) cuts.push(bare);
  return cuts.map((raw) => split(raw, swapinSleeps).parts).reduce(added);
}

/** Columns with delay accounting off for some time: delays were frozen, and are meaningless. */
function switchedOff({ model }: ViewInput, time_s: Float64Array): boolean[] {
  return Array.from({ length: time_s.length - 1 }, (_, c) =>
    model.accounting
      .between(time_s[c] ?? 0, time_s[c + 1] ?? 0)
      .some((change) => change.value === 0),
  );
}

interface Lacks {
  readonly irq: boolean;
  readonly bare: number;
  readonly threads: number;
  readonly off: boolean;
}

/** Missing parts, and the reasons. */
function absences(input: ViewInput, { irq, bare, threads, off }: Lacks): TimesView["absent"] {
  const { model } = input;
  const absent: { part: Part; reason: string }[] = [];
  const fields = { blkio: "blkio_delay_ns", swapin: "swapin_delay_ns" } as const;
  for (const part of ["blkio", "swapin", "memory"] as const) {
    const field = part === "memory" ? "reclaim_delay_ns" : fields[part];
    if (model.counters.columnOf(field) < 0) {
      absent.push({ part, reason: whyAbsent(input, field) });
    } else if (bare > 0) {
      const whose = bare === threads ? "these threads" : `${bare} of ${threads} threads`;
      const reason = `${whose} started before delay accounting was switched on`;
      absent.push({ part, reason });
    } else if (off) {
      absent.push({ part, reason: "delay accounting was off for a part of the time" });
    }
  }
  const memory = ["thrashing_delay_ns", "compact_delay_ns", "wpcopy_delay_ns"];
  if (model.counters.columnOf("reclaim_delay_ns") >= 0) {
    const old = memory.find((field) => model.counters.columnOf(field) < 0);
    if (old !== undefined) absent.push({ part: "memory", reason: whyAbsent(input, old) });
  }
  if (model.counters.columnOf("irq_delay_ns") < 0) {
    absent.push({ part: "irq", reason: whyAbsent(input, "irq_delay_ns") });
  } else if (!irq) {
    const reason =
      "the kernel has counted none so far; without CONFIG_IRQ_TIME_ACCOUNTING it never does, and " +
      "interrupts are within the time on CPU";
    absent.push({ part: "irq", reason });
  }
  return absent;
}

/** Stack the parts of each column. */
function bands(gathered: Gathered): Partial<ChartView> {
  const { cuts, time_s, whole, roles, absent, scope, ledger, no_ledger } = gathered;
  const edges = time_s.length;
  const shown = TIME_PARTS.filter((part) =>
    part === "rest" || part === "unsplit"
      ? cuts.some(({ parts }) => parts[part] > 0)
      : cuts.some(({ parts }) => !Number.isNaN(parts[part])),
  );
  const low = new Float64Array(shown.length * edges);
  const high = new Float64Array(shown.length * edges);
  for (let e = 0; e < edges; e++) {
    // The last edge only ends the previous column.
    const column = cuts[Math.min(e, cuts.length - 1)];
    let level = column && column.wall_s > 0 ? 0 : Number.NaN;
    for (const [index, part] of shown.entries()) {
      low[index * edges + e] = level;
      const seconds = column?.parts[part] ?? Number.NaN;
      level += Number.isNaN(seconds) ? 0 : seconds / (column?.wall_s ?? 1);
      high[index * edges + e] = level;
    }
  }
  const lines = shown.map((part): LineView => {
    const share = whole.wall_s > 0 ? whole.parts[part] / whole.wall_s : Number.NaN;
    return { ...PLAIN_LINE, kind: "part", name: partName(part), part, last: share };
  });
  const times = { ...scope, whole, roles, absent, ledger, no_ledger };
  return { columns: edges, time_s, low, high, lines, times };
}
