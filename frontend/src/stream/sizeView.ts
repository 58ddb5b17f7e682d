/** The timeline of a program's size, and its operations per second below. */

import type { SignalKind } from "../wire/generated/models";
import { emptyView, PLAIN_LINE, type ViewInput } from "./chartView";
import type { GaugeChange, GaugeLog } from "./gaugeLog";
import { poolSeries } from "./poolsView";
import { SHADES } from "./roleHues";
import { type DecisionView, signalUnit, sizeTitle } from "./steerView";
import type { ChartView, LineView } from "./views";

/** Headroom above the highest size, for labels at the upper edge of the plot. */
const HEADROOM = 1.2;
/** Maximum gap between two intervals of one line, in seconds; a change may take 3 s to act. */
const BREAK_S = 4;
/** Maximum number of distinguishable program lines; the legend shows the number of further ones. */
const MAX_PROGRAMS = 16;

/**
 * The current size as a step line, and in shadow mode the proposed size. GOMAXPROCS is read at each
 * sample. Sizes of other pools come from decisions, or without steering from the program's reports.
 * A group has one line per program.
 */
export function sizeView(input: ViewInput): ChartView {
  const { model, target, span, now_s } = input;
  const end_s = Math.min(span.t1_s, now_s);
  const { knob = null } = model.steer.lastBand(now_s) ?? {};
  const read = model.sizes.between(span.t0_s, end_s);
  const pools = target?.group == null && !hasValue(read) ? poolSizes(input, end_s) : [];
  const decided = model.steer.sizes.between(span.t0_s, end_s);
  // The program keeps reporting after a release.
  const steered = pools.length > 0 ? withinBands(input, decided) : decided;
  const sizes = knob === "pool-agent" || !hasValue(read) ? steered : read;
  const known = programSizes(input, end_s);
  const programs = drawnOf(known);
  if (!hasValue(sizes) && programs.length === 0 && pools.length === 0) {
    return emptyView(input, "gomaxprocs", "absent", target?.gomaxprocs_reason ?? "");
  }
  const proposed = model.steer.proposals.between(span.t0_s, end_s);
  // The lead of a group is one of its programs.
  const single = hasValue(sizes) && programs.length === 0;
  const drawn: readonly SizeLine[] = [
    ...(single ? [{ log: sizes, line: { name: sizeTitle(knob) } }] : []),
    ...(single && hasValue(proposed)
      ? [{ log: proposed, line: { name: "would be set (shadow)", variant: 1 as const } }]
      : []),
    ...programs,
    ...pools.map(({ name, points }, i) => {
      return { log: points, line: { kind: "part" as const, name, colour: SHADES * i } };
    }),
  ];
  const times = [...new Set(drawn.flatMap(({ log }) => log.map(({ t_s }) => t_s)))];
  const time_s = Float64Array.from([...times.filter((t_s) => t_s < end_s), end_s]).sort();
  const low = new Float64Array(drawn.length * time_s.length);
  const lines = drawn.map(({ log, line }, i) => {
    const known = held(log, time_s);
    // Pools are read less often than policies start.
    const values =
      line.kind === "part"
        ? known.map((size, at) =>
            model.steer.bandAt(time_s[at] ?? 0) === null ? size : Number.NaN,
          )
        : known;
    low.set(values, i * time_s.length);
    const last = values.at(-1) ?? Number.NaN;
    return { ...PLAIN_LINE, kind: "process" as const, ...line, last };
  });
  return {
    ...emptyView(input, "gomaxprocs", "ok", target?.gomaxprocs_reason ?? ""),
    columns: time_s.length,
    time_s,
    low,
    high: low,
    lines,
    y_max: HEADROOM * Math.max(0, ...low.filter((value) => !Number.isNaN(value))),
    step: true,
    others: known.length - programs.length,
  };
}

/** Size over time, and properties of its line. */
interface SizeLine {
  readonly log: readonly GaugeChange[];
  readonly line: Pick<LineView, "name"> & Partial<LineView>;
}

/** Changes while a policy steers; NaN otherwise. */
function withinBands({ model }: ViewInput, changes: readonly GaugeChange[]): GaugeChange[] {
  return changes.map(({ t_s, value }) => {
    return { t_s, value: model.steer.bandAt(t_s) === null ? Number.NaN : value };
  });
}

/** Size over time of one program, and its line. */
interface ProgramSize {
  readonly log: readonly GaugeChange[];
  readonly line: Pick<LineView, "key" | "name" | "colour"> & { readonly pid: number };
}

/**
 * Known sizes of a group's programs, in order of first sight. The lead's GOMAXPROCS is read at each
 * sample, the others' about once a second; sizes of other pools come from decisions.
 */
function programSizes({ model, target, span }: ViewInput, end_s: number): readonly ProgramSize[] {
  if (target?.group == null) return [];
  const own: [number, GaugeLog][] =
    model.gomaxprocs === null ? [] : [[target.process.pid, model.sizes]];
  const logs = new Map([...own, ...model.programSizes.logs, ...own]);
  for (const [pid, { log }] of model.programSteer.programs) {
    if (!logs.has(pid) || log.lastBand(end_s)?.knob === "pool-agent") logs.set(pid, log.sizes);
  }
  return [...logs].flatMap(([pid, sizes]) => {
    const log = sizes.between(span.t0_s, end_s);
    return hasValue(log) ? [{ log, line: programLine(model, pid) }] : [];
  });
}

/** Programs drawn: live ones before ended ones, by number of changes; in order of first sight. */
function drawnOf(programs: readonly ProgramSize[]): readonly ProgramSize[] {
  const lives = ({ log }: ProgramSize) => Number(!Number.isNaN(log.at(-1)?.value ?? Number.NaN));
  const best = [...programs]
    .sort((a, b) => lives(b) - lives(a) || b.log.length - a.log.length)
    .slice(0, MAX_PROGRAMS);
  return programs.filter((program) => best.includes(program));
}

/** Name and colour of a program's line. */
function programLine(model: ViewInput["model"], pid: number) {
  const life = model.levels.processWith(pid);
  const { key, colour } = life ?? PLAIN_LINE;
  const known = model.programSteer.programs.get(pid)?.name;
  return { key, name: life?.name ?? known ?? `process ${pid}`, colour, pid };
}

/** Operations per second of each steered program of a group, held from one decision to the next. */
function programOps(input: ViewInput, end_s: number): ChartView | null {
  const { model, span } = input;
  const logs = [...model.programSteer.programs].flatMap(([pid, { log }]) => {
    const rates = log.rates.between(span.t0_s, end_s);
    return hasValue(rates) ? [{ pid, rates }] : [];
  });
  if (logs.length === 0) return null;
  const times = [...new Set(logs.flatMap(({ rates }) => rates.map(({ t_s }) => t_s)))];
  const time_s = Float64Array.from([...times.filter((t_s) => t_s < end_s), end_s]).sort();
  const low = new Float64Array(logs.length * time_s.length);
  const lines = logs.map(({ pid, rates }, line) => {
    const values = held(rates, time_s);
    low.set(values, line * time_s.length);
    const last = values.at(-1) ?? Number.NaN;
    return { ...PLAIN_LINE, ...programLine(model, pid), kind: "process" as const, last };
  });
  return {
    ...emptyView(input, "ops", "ok", ""),
    unit: signalUnit(null),
    columns: time_s.length,
    time_s,
    low,
    high: low,
    lines,
    y_max: HEADROOM * Math.max(0, ...low.filter((value) => !Number.isNaN(value))),
    step: true,
  };
}

/**
 * Operations per second: one point per interval of the current signal. Without steering, those of
 * the program's pools.
 */
export function opsView(input: ViewInput): ChartView {
  const { model, span, now_s } = input;
  const { steer } = model;
  const end_s = Math.min(span.t1_s, now_s);
  const ofPrograms = programOps(input, end_s);
  if (ofPrograms !== null) return ofPrograms;
  // One more decision, so that the line reaches the left edge.
  const all = steer.between(Number.NEGATIVE_INFINITY, end_s);
  const from = all.findLastIndex(({ t_s }) => t_s < span.t0_s);
  const shown = all.slice(Math.max(0, from));
  const signal = steer.lastBand(end_s)?.signal ?? null;
  // Proxies for operations are not drawn beside real ones.
  const pools = shown.length === 0 || isCounted(signal) ? poolOps(input, end_s) : [];
  const unit = signalUnit(shown.length === 0 && pools.length > 0 ? null : signal);
  if (shown.length === 0 && pools.length === 0) {
    const waits = steer.bandAt(end_s) !== null;
    const reason = waits ? "waiting for the first interval" : "not steered";
    return { ...emptyView(input, "ops", waits ? "waiting" : "absent", reason), unit };
  }
  const points = new Map(shown.flatMap((decision, i) => broken(shown[i - 1], decision)));
  const others = pools.flatMap((pool) => pool.points.map(({ t_s }) => t_s));
  const time_s = Float64Array.from(new Set([...points.keys(), ...others])).sort();
  const lines: LineView[] = [];
  const values: Float64Array[] = [];
  if (shown.length > 0) {
    const last = steer.bandAt(end_s) === null ? Number.NaN : (shown.at(-1)?.rate ?? Number.NaN);
    lines.push({ ...PLAIN_LINE, kind: "process", name: "per second", last });
    values.push(time_s.map((t_s) => points.get(t_s) ?? Number.NaN));
  }
  for (const [i, pool] of pools.entries()) {
    const held = valuesAt(pool.points, time_s).map((value, at) =>
      points.has(time_s[at] ?? Number.NaN) ? Number.NaN : value,
    );
    const last = steer.bandAt(end_s) === null ? (held.at(-1) ?? Number.NaN) : Number.NaN;
    lines.push({ ...PLAIN_LINE, kind: "part", name: pool.name, colour: SHADES * i, last });
    values.push(held);
  }
  const low = Float64Array.from(values.flatMap((line) => [...line]));
  const seen = low.filter(
    (value, i) => !Number.isNaN(value) && (time_s[i % time_s.length] ?? 0) >= span.t0_s,
  );
  return {
    ...emptyView(input, "ops", "ok", ""),
    unit,
    columns: time_s.length,
    time_s,
    low,
    high: low,
    lines,
    y_max: Math.max(0, ...seen),
  };
}

/** Whether a signal counts the program's own operations. */
function isCounted(signal: SignalKind | null): boolean {
  return signal === "agent-ops" || signal === "queue-wait";
}

/** A decision's point, preceded by a gap if the previous one belongs to another band. */
function broken(before: DecisionView | undefined, { t_s, rate, start_s }: DecisionView) {
  const point = [t_s, rate] as const;
  if (before === undefined || start_s - before.t_s <= BREAK_S) return [point];
  return [[(before.t_s + start_s) / 2, Number.NaN] as const, point];
}

function hasValue(changes: readonly GaugeChange[]): boolean {
  return changes.some((change) => !Number.isNaN(change.value));
}

/** Values of a gauge at moments in time order; NaN before its first change. */
function held(changes: ReturnType<GaugeLog["between"]>, time_s: Float64Array): Float64Array {
  let i = -1;
  return time_s.map((t_s) => {
    while (i + 1 < changes.length && (changes[i + 1]?.t_s ?? 0) <= t_s) i++;
    return changes[i]?.value ?? Number.NaN;
  });
}

/** Operations per second over time: each value is the mean since the point before. */
export interface OperationsLine {
  /** Within a sentence: "pool requests"; empty for those of a single program's policy. */
  readonly name: string;
  readonly points: readonly GaugeChange[];
}

/** Operations of a window that the program, its agent or its metrics count; no proxies for them. */
export function operationLines(input: ViewInput): readonly OperationsLine[] {
  const { model, span, now_s } = input;
  const end_s = Math.min(span.t1_s, now_s);
  const steered = [
    { name: "", log: model.steer },
    ...Array.from(model.programSteer.programs, ([pid, { log }]) => {
      return { name: programLine(model, pid).name, log };
    }),
  ].map(({ name, log }) => {
    const own = log
      .between(span.t0_s, end_s)
      .filter(({ t_s, start_s }) => log.bandAt((start_s + t_s) / 2)?.proxy === false);
    const points = own.flatMap((decision, i) => {
      // A policy that tries a size expects another rate.
      const rate = decision.counted && !decision.probing ? decision.rate : Number.NaN;
      return broken(own[i - 1], { ...decision, rate });
    });
    return { name, points: points.map(([t_s, value]) => ({ t_s, value })) };
  });
  return [...steered, ...poolOps(input, end_s)].filter(({ points }) => points.length > 0);
}

/** One pool; NaN while a policy steers, as its decisions contain the rate. */
interface PoolLine {
  readonly name: string;
  readonly points: readonly GaugeChange[];
}

/**
 * Time without a reading after which a line has a gap, in seconds: pools are read once a second.
 */
const GAP_S = 4;
/** Maximum number of distinguishable pool lines. */
const MAX_POOLS = 8;
/** Source of the JVM's own pools, which do none of the program's operations. */
const OF_MACHINE = "hsperfdata";

/** Finished jobs per second of each pool with that counter, busiest first. */
function poolOps(input: ViewInput, end_s: number): readonly PoolLine[] {
  return poolLines(input, end_s, "finished_per_s");
}

/** Sizes of pools with a known size, largest first. */
function poolSizes(input: ViewInput, end_s: number): readonly PoolLine[] {
  return poolLines(input, end_s, "size").map(({ name, points }) => {
    const last_s = points.at(-1)?.t_s ?? 0;
    // A size is held until the next reading, and unknown if none follows.
    return { name, points: [...points, { t_s: last_s + GAP_S, value: Number.NaN }] };
  });
}

function poolLines(
  { model, span }: ViewInput,
  end_s: number,
  figure: "finished_per_s" | "size",
): readonly PoolLine[] {
  const found = model.pools.all().flatMap(({ readings, source, pid, program, name }) => {
    if (source === OF_MACHINE) return [];
    const steered = model.group === null ? model.steer : model.programSteer.programs.get(pid)?.log;
    const series = poolSeries(readings, span.t0_s, end_s);
    const points = [...series[figure]].map((value, i) => {
      const t_s = series.time_s[i] ?? Number.NaN;
      return { t_s, value: (steered?.bandAt(t_s) ?? null) === null ? value : Number.NaN };
    });
    if (points.every(({ value }) => Number.isNaN(value))) return [];
    return [{ name: `${program === "" ? "" : `${program} (${pid}), `}pool ${name}`, points }];
  });
  return found.sort((a, b) => most(b) - most(a)).slice(0, MAX_POOLS);
}

/** Values at moments in time order: the next reading's, if near enough. */
function valuesAt(points: readonly GaugeChange[], time_s: Float64Array): Float64Array {
  let i = 0;
  return time_s.map((t_s) => {
    while (i < points.length && (points[i]?.t_s ?? 0) < t_s) i++;
    const [before, next] = [points[i - 1], points[i]];
    if (next === undefined) return Number.NaN;
    const since_s = before === undefined || next.t_s === t_s ? t_s : before.t_s;
    return next.t_s - since_s <= GAP_S ? next.value : Number.NaN;
  });
}

function most({ points }: PoolLine): number {
  return Math.max(...points.map(({ value }) => (Number.isNaN(value) ? 0 : value)));
}
