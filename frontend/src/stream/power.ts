/** Power of the machine, and the share attributed to threads. */

import type { ViewInput } from "./chartView";
import { type CurrentRates, rateAt } from "./currentRates";
import { type MachineNow, MEAN_S } from "./machineLog";
import type { TileView } from "./views";

const POINTS = 60;
const CPU = "cpu_run_ns";

/** Method and limits of the estimated power share of a thread. */
export const ESTIMATE_NOTE =
  "An estimate, not a measurement: the power of all packages times this CPU time as a share of the " +
  "CPU time of everything that ran on the machine in these seconds. Idle power is shared out with " +
  "the rest, so that who runs alone bears all of it. Clock rates, kinds of instructions, memory " +
  "and devices make no difference here; in reality they do.";

/**
 * Power per core of CPU used by a thread: package power divided by the machine's CPU time.
 * /proc/stat moves in ticks, the target's CPU time is exact, and both are read at different
 * instants. The machine therefore counts as at least as busy as the target, so that no share
 * exceeds one.
 * @param process_cores CPU of the target, cores.
 * @returns Watts per core; NaN if unknown.
 */
export function wattsPerCore({ watts, busy_cores }: MachineNow, process_cores: number): number {
  const busy = Math.max(busy_cores, process_cores);
  return busy > 0 ? watts / busy : Number.NaN;
}

/** Current watts per core of CPU used by the target's threads. */
export function powerOf(input: ViewInput, rates: CurrentRates): number {
  const { counters } = input.model;
  return wattsPerCore(machineOf(input), processCores(counters.columnOf(CPU), rates));
}

/** State of the machine now, or over a chosen window. */
function machineOf({ model, span, now_s, request }: ViewInput): MachineNow {
  if (request.window.kind === "last") return model.machine.at(now_s);
  const end_s = Math.min(span.t1_s, now_s);
  return model.machine.at(end_s, Math.max(MEAN_S, end_s - span.t0_s));
}

/** Package power, and the target's share. */
export function powerTile(input: ViewInput, rates: CurrentRates): TileView {
  const { model, target, span, now_s } = input;
  const tile: TileView = {
    id: "power",
    label: "Power",
    unit: "W",
    state: "absent",
    reason: "",
    value: Number.NaN,
    second: null,
    first_label: "machine",
    spark: new Float32Array(0),
    assessment: null,
  };
  const source = target?.energy;
  if (!source?.domains.some((domain) => domain.summed)) {
    const reason = source?.reason ?? "not known yet";
    return { ...tile, reason: `No energy counter: ${reason}.` };
  }
  if (Number.isNaN(model.machine.energyAt(now_s))) {
    return { ...tile, reason: "The energy counter cannot be read at the moment." };
  }
  const { watts } = machineOf(input);
  const cores = processCores(model.counters.columnOf(CPU), rates);
  return {
    ...tile,
    state: Number.isNaN(watts) ? "waiting" : "ok",
    reason: Number.isNaN(watts) ? "not enough data yet" : "",
    value: watts,
    second: { label: "process, est.", value: powerOf(input, rates) * cores },
    spark: model.machine.sampled(span.t0_s, Math.min(span.t1_s, now_s), POINTS),
    note: `Packages: ${source.reason}. The process' part is ${ESTIMATE_NOTE.slice(0, 1).toLowerCase()}${ESTIMATE_NOTE.slice(1)}`,
  };
}

/** CPU of the process: slot 0 is first in `latest`. */
function processCores(column: number, rates: CurrentRates): number {
  return column < 0 ? Number.NaN : rateAt(rates, column) / 1e9;
}
