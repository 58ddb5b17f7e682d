/** Overview of a run: CPU of its process over time. */

import type { Frame } from "../wire/frame";
import { rateBetween } from "./rate";
import type { RunSource } from "./runWindow";
import type { Outline } from "./views";

const PARTS = 400;
const FIELD = "cpu_run_ns";

/**
 * CPU of the process in equal parts of a run: its own CPU counter if frames have one, otherwise the
 * sum of the threads' growth.
 * @param frames In time order, a key frame first.
 */
export function outlineOf({ from_s, to_s }: RunSource, frames: readonly Frame[]): Outline {
  const totals = totalsOf(frames);
  const parts = Math.max(1, Math.min(PARTS, totals.length - 1));
  const cores = new Float32Array(parts).fill(Number.NaN);
  const width = (to_s - from_s) / parts;
  let at = 0;
  for (let part = 0; part < parts; part++) {
    const end_s = from_s + (part + 1) * width;
    let last = at;
    while (last + 1 < totals.length && (totals[last + 1]?.t_s ?? 0) <= end_s + 1e-6) last++;
    // A part without a sample shares the growth up to the next sample.
    const to = last > at ? last : Math.min(at + 1, totals.length - 1);
    const before = totals[at];
    const after = totals[to];
    if (before && after) {
      cores[part] = rateBetween(before.cpu_s, after.cpu_s, after.t_s - before.t_s);
    }
    at = last;
  }
  return { from_s, to_s, cores };
}

interface Total {
  readonly t_s: number;
  readonly cpu_s: number;
}

function totalsOf(frames: readonly Frame[]): Total[] {
  const held = new Map<number, number>();
  let living = 0;
  const totals = frames.map(({ header, fields, columns, tid, start_ns }) => {
    if (start_ns) {
      held.clear();
      living = 0;
    }
    const column = columns[fields.indexOf(FIELD)];
    for (let row = 0; column && row < tid.length; row++) {
      const value = column[row] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      const id = tid[row] ?? 0;
      living += value - (held.get(id) ?? 0);
      held.set(id, value);
    }
    for (const event of header.events) {
      if (event.type !== "thread_exited") continue;
      living -= held.get(event.tid) ?? 0;
      held.delete(event.tid);
    }
    const summed = living + (header.exited.totals[FIELD] ?? 0);
    return { t_s: header.time_ns / 1e9, summed, cpu_ns: header.process.cpu_ns ?? null };
  });
  // The process' CPU clock is read once a second; its excess over the threads is held in between.
  const first = totals.find(({ cpu_ns }) => cpu_ns !== null);
  let beyond = first ? (first.cpu_ns ?? 0) - first.summed : 0;
  const known = totals.map(({ t_s, summed, cpu_ns }) => {
    if (cpu_ns !== null) beyond = cpu_ns - summed;
    return { t_s, cpu_s: (summed + beyond) / 1e9 };
  });
  // The last of several frames at one instant is complete.
  return known.filter(({ t_s }, i) => t_s !== known[i + 1]?.t_s);
}
