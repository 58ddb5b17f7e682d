/** Power of the machine, and the share of it that threads may answer for. */

import type { ViewInput } from "./chartView";
import { type CurrentRates, rateAt } from "./currentRates";
import { type MachineNow, MEAN_S } from "./machineLog";
import type { TileView } from "./views";

const POINTS = 60;
const CPU = "cpu_run_ns";

/** How the share of a thread is estimated, and what the estimate does not know. */
export const ESTIMATE_NOTE =
  "An estimate, not a measurement: the power of all packages times this CPU time as a share of the " +
  "CPU time of everything that ran on the machine in these seconds. Idle power is shared out with " +
  "the rest, so that who runs alone bears all of it. Clock rates, kinds of instructions, memory " +
  "and devices make no difference here; in reality they do.";

/**
 * Power for each core of CPU that a thread uses: package power by CPU time of the machine.
 *
 * /proc/stat moves in ticks and the target's CPU time is exact, and the two are not read at the same
 * instant: the machine is taken to be at least as busy as the target, so that no share is above one.
 *
 * @param process_cores CPU of the target, cores.
 * @returns Watts a core; NaN if it is not known.
 */
export function wattsPerCore({ watts, busy_cores }: MachineNow, process_cores: number): number {
  const busy = Math.max(busy_cores, process_cores);
  return busy > 0 ? watts / busy : Number.NaN;
}

/** Watts for each core of CPU that threads of the target use now. */
export function powerOf(input: ViewInput, rates: CurrentRates): number {
  const { counters } = input.model;
  return wattsPerCore(machineOf(input), processCores(counters.columnOf(CPU), rates));
}

/** The machine now, or over a window that was chosen. */
function machineOf({ model, span, now_s, request }: ViewInput): MachineNow {
  if (request.window.kind === "last") return model.machine.at(now_s);
  const end_s = Math.min(span.t1_s, now_s);
  return model.machine.at(end_s, Math.max(MEAN_S, end_s - span.t0_s));
}

/** Power of the packages, and the target's part of it. */
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
    usual: null,
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

/** CPU of the process: slot 0 stands first in `latest`. */
function processCores(column: number, rates: CurrentRates): number {
  return column < 0 ? Number.NaN : rateAt(rates, column) / 1e9;
}
