/** Operations a second and sizes of the pools that a program reports, while no policy steers it. */

import type { ViewInput } from "./chartView";
import type { GaugeChange } from "./gaugeLog";
import { poolSeries } from "./poolsView";

/** One pool; NaN where a policy steers, whose decisions say how much was done. */
export interface PoolLine {
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
export function poolOps(input: ViewInput, end_s: number): readonly PoolLine[] {
  return poolLines(input, end_s, "finished_per_s");
}

/** Of each pool whose size is known, the largest first. */
export function poolSizes(input: ViewInput, end_s: number): readonly PoolLine[] {
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
export function valuesAt(points: readonly GaugeChange[], time_s: Float64Array): Float64Array {
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
