/** What stands beside the thread map. */

import { localTime } from "../../base/clock";
import { counted, formatDuration } from "../../stream/format";
import type { MapPicture } from "../../stream/mapPicture";
import { STATE_FIELD } from "../../stream/states";

/** Height for so many rows, CSS pixels. */
export function mapHeight(rows: number, large = false): number {
  if (large) {
    return 640;
  }
  if (rows <= 10) {
    return 200;
  }
  return rows <= 40 ? 300 : 420;
}

const UNITS: Readonly<Record<string, string>> = {
  cores: "cores",
  share: "share of time",
  "bytes/s": "bytes per second",
  "1/s": "per second",
};

/** How many threads there are, how they share rows, and what a cell is. */
export function mapText(picture: MapPicture | null): string {
  if (picture === null || picture.view.state !== "ok") {
    return "";
  }
  const { view, layout } = picture;
  const threads = layout.tid.length;
  const states = view.field === STATE_FIELD;
  const parts = [
    states
      ? `what threads did most of each ${formatDuration(view.bin_s)}`
      : `${UNITS[view.unit] ?? view.unit}, mean over ${formatDuration(view.bin_s)}`,
    counted(threads, "thread"),
  ];
  if (layout.per_row > 1) {
    const word = states ? "together" : view.mix === "max" ? "highest shown" : "mean shown";
    parts.push(`up to ${layout.per_row} per row, ${word}`);
  }
  if (view.since_s !== null) {
    const since = localTime(view.attached_unix_ms + 1000 * view.since_s);
    parts.push(`recorded since you chose it, ${since}`);
  }
  return parts.join(" · ");
}
