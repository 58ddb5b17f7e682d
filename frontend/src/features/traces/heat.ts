/** The heat map of an endpoint: operations by traces. Pure. */

import type { TraceHeat } from "../../wire/generated/models";
import { operationName, timeText } from "./callTree";

export type HeatOrder = "start" | "duration";

/** A cell by its drawn row and column. */
export interface HeatCell {
  readonly row: number;
  readonly column: number;
}

/** Columns of a heat map in an order: indices of its traces. */
export function heatColumns({ traces }: TraceHeat, order: HeatOrder): readonly number[] {
  const columns = traces.map((_, at) => at);
  const value = (at: number) =>
    order === "start" ? (traces[at]?.start_ns ?? 0) : (traces[at]?.duration_ns ?? 0);
  return columns.sort((a, b) => value(a) - value(b));
}

/** The greatest own time of a cell, ns. */
export function heatTop({ exclusive_ns }: TraceHeat): number {
  return exclusive_ns.reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), 0);
}

/** Cursor after a key; null if unchanged. A new cursor appears at the first cell. */
export function moveInHeat(
  cell: HeatCell | null,
  key: string,
  rows: number,
  columns: number,
): HeatCell | null {
  const steps: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -columns],
    End: [0, columns],
  };
  const step = steps[key];
  if (step === undefined || rows === 0 || columns === 0) return null;
  if (cell === null) return { row: 0, column: 0 };
  const within = (value: number, count: number) => Math.min(Math.max(value, 0), count - 1);
  return {
    row: within(cell.row + step[0], rows),
    column: within(cell.column + step[1], columns),
  };
}

/** A cell in words. */
export function heatText(heat: TraceHeat, row: number, trace: number): string {
  const operation = heat.operations[row];
  const found = heat.traces[trace];
  if (operation === undefined || found === undefined) return "";
  const own = heat.exclusive_ns[row]?.[trace] ?? 0;
  const of = `a request of ${timeText(found.duration_ns)}`;
  const chains = (heat.chains[row]?.[trace] ?? []).map(
    ({ chain, ns }) => `${timeText(ns)} in ${chain.map(operationName).join(", ")}`,
  );
  const what = own === 0 ? "not on the critical path" : `${timeText(own)} on the critical path`;
  return [`${operationName(operation)}: ${what} of ${of}`, ...chains].join("; ");
}
