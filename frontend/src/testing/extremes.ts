/** Synthetic tables of least and greatest rates, as the backend sends them. */

import {
  columnFromArray,
  float32,
  int64,
  tableFromColumns,
  tableToIPC,
  uint32,
} from "@uwdata/flechette";

/** Least and greatest CPU use of a thread (0: the process) over a time span, in cores. */
export interface Burst {
  readonly tid: number;
  readonly start_s: number;
  readonly from_s: number;
  readonly to_s: number;
  readonly least: number;
  readonly greatest: number;
}

/** A table of bursts, by thread and time. */
export function extremesOf(bursts: readonly Burst[]): ArrayBuffer {
  const ns = (pick: (burst: Burst) => number) =>
    columnFromArray(
      bursts.map((burst) => BigInt(Math.round(pick(burst) * 1e9))),
      int64(),
    );
  const rates = (pick: (burst: Burst) => number) =>
    columnFromArray(
      bursts.map((burst) => pick(burst) * 1e9),
      float32(),
    );
  const table = tableFromColumns({
    tid: columnFromArray(
      bursts.map(({ tid }) => tid),
      uint32(),
    ),
    start_ns: ns(({ start_s }) => start_s),
    from_ns: ns(({ from_s }) => from_s),
    to_ns: ns(({ to_s }) => to_s),
    cpu_run_ns_least: rates(({ least }) => least),
    cpu_run_ns_greatest: rates(({ greatest }) => greatest),
  });
  const bytes = tableToIPC(table, { format: "stream" });
  if (!bytes) throw new Error("no stream");
  return bytes.slice().buffer;
}
