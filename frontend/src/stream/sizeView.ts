/** The timeline of a program's size, and operations a second under it. */

import type { SignalKind } from "../wire/generated/models";
import { emptyView, PLAIN_LINE, type ViewInput } from "./chartView";
import type { GaugeChange, GaugeLog } from "./gaugeLog";
import { poolSeries } from "./poolsView";
import { type DecisionView, signalUnit, sizeTitle } from "./steerView";
import { SHADES } from "./threads";
import type { ChartView, LineView } from "./views";

/** Room above the highest size, for what stands at the upper edge of the plot. */
const HEADROOM = 1.2;
/** Two intervals with more than this between them are not one line; a change may take 3 s to act. */
const BREAK_S = 4;
/** Lines of programs that can be kept apart by eye; the legend says how many more there are. */
const MAX_PROGRAMS = 16;

/**
 * The current size, a step line, and in shadow mode the size that would have been set. GOMAXPROCS
 * is read at each sample; other pools are known from the decisions, and where nothing steers from
 * what the program reports. Of a group a line a program.
 */
export function sizeView(input: ViewInput): ChartView {
  const { model, target, span, now_s } = input;
  const end_s = Math.min(span.t1_s, now_s);
  const { knob = null } = model.steer.lastBand(now_s) ?? {};
  const read = model.sizes.between(span.t0_s, end_s);
  const pools = target?.group == null && !hasValue(read) ? poolSizes(input, end_s) : [];
  const decided = model.steer.sizes.between(span.t0_s, end_s);
  // What the program reports goes on after a release.
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
    // Pools are read more seldom than a policy begins.
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

/** Size over time, and what its line has of its own. */
interface SizeLine {
  readonly log: readonly GaugeChange[];
  readonly line: Pick<LineView, "name"> & Partial<LineView>;
}

/** Changes while a policy steers; NaN once it does not. */
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
 * Size of each program of a group as far as it is known, in the order in which they were seen:
 * GOMAXPROCS is read of the lead at each sample, of others about once a second; other pools are
 * known from the decisions.
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

/** Those that are drawn: programs that live, then those that changed most; in the order they came. */
function drawnOf(programs: readonly ProgramSize[]): readonly ProgramSize[] {
  const lives = ({ log }: ProgramSize) => Number(!Number.isNaN(log.at(-1)?.value ?? Number.NaN));
  const best = [...programs]
    .sort((a, b) => lives(b) - lives(a) || b.log.length - a.log.length)
    .slice(0, MAX_PROGRAMS);
  return programs.filter((program) => best.includes(program));
}

/** What a line of one program is called, and its colour. */
function programLine(model: ViewInput["model"], pid: number) {
  const life = model.levels.processWith(pid);
  const { key, colour } = life ?? PLAIN_LINE;
  const known = model.programSteer.programs.get(pid)?.name;
  return { key, name: life?.name ?? known ?? `process ${pid}`, colour, pid };
}

/** Operations a second of each steered program of a group, held from one decision to the next. */
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
 * Operations a second: by the signal in effect a point at the end of each interval, and where nothing
 * steers those of the program's pools.
 */
export function opsView(input: ViewInput): ChartView {
  const { model, span, now_s } = input;
  const { steer } = model;
  const end_s = Math.min(span.t1_s, now_s);
  const ofPrograms = programOps(input, end_s);
  if (ofPrograms !== null) return ofPrograms;
  // One more, so that the line reaches the left edge.
  const all = steer.between(Number.NEGATIVE_INFINITY, end_s);
  const from = all.findLastIndex(({ t_s }) => t_s < span.t0_s);
  const shown = all.slice(Math.max(0, from));
  const signal = steer.lastBand(end_s)?.signal ?? null;
  // What stands in for operations is not drawn beside them.
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

/** Whether a signal counts what the program calls operations. */
function isCounted(signal: SignalKind | null): boolean {
  return signal === "agent-ops" || signal === "queue-wait";
}

/** A decision's point, with a break before it if the one before is of another stretch. */
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

/** One pool; NaN where a policy steers, whose decisions say how much was done. */
interface PoolLine {
  readonly name: string;
  readonly points: readonly GaugeChange[];
}

/** Pools are read once a second; after a longer time a line has a gap. */
const GAP_S = 4;
/** Lines that can be kept apart by eye. */
const MAX_POOLS = 8;
/** Pools of the Java virtual machine itself: they do none of the program's operations. */
const OF_MACHINE = "hsperfdata";

/** Of each pool that counts what it has finished, those that do the most first. */
function poolOps(input: ViewInput, end_s: number): readonly PoolLine[] {
  return poolLines(input, end_s, "finished_per_s");
}

/** Of each pool whose size is known, the largest first. */
function poolSizes(input: ViewInput, end_s: number): readonly PoolLine[] {
  return poolLines(input, end_s, "size").map(({ name, points }) => {
    const last_s = points.at(-1)?.t_s ?? 0;
    // A size is held until the next reading; where none comes it is not known any more.
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

/** Values at moments in time order: that of the next reading, if it is not far. */
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
