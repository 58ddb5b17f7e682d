import { fieldNamed } from "../../stream/format";
import type { TileId } from "../../stream/views";

/** Field of each tile based on counters. */
const FIELDS: Readonly<Partial<Record<TileId, string>>> = {
  cpu: "cpu_run_ns",
  wait: "cpu_delay_ns",
  blkio: "blkio_delay_ns",
  network: "net_read_bytes",
  disk: "disk_read_bytes",
  switches: "voluntary_switches",
};

/**
 * Why a tile has no value.
 * @param reason the collector's reason, for a field that the target lacks.
 * @param given fields of the target.
 */
export function tileAbsentReason(
  tile: TileId,
  reason: string,
  given: readonly string[],
  liveThreads: number,
): string {
  const field = FIELDS[tile];
  if (field === undefined || !given.includes(field)) {
    return reason;
  }
  if (liveThreads === 0) {
    return "No live threads.";
  }
  const needs = fieldNamed(field)?.meaning.match(/Needs .*$/)?.[0] ?? "";
  return `No thread has a value. ${needs}`.trim();
}
