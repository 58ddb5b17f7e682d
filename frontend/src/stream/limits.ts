/** Memory and disk limits of the control groups within the window. */

import type { ViewInput } from "./chartView";

export interface LimitsView {
  /** Smallest memory limit in bytes, and how often a second it was reached; null if there is none. */
  readonly memory: { readonly bytes: number; readonly hits_per_s: number } | null;
  /** Disk limit nearest to being used up: bytes or operations a second; null if there is none. */
  readonly disk: { readonly limit: number; readonly unit: "bytes/s" | "1/s" } | null;
  /** Share of the window in which a limit of reads, and one of writes, was used up. */
  readonly reads_limited: number;
  readonly writes_limited: number;
}

export const NO_LIMITS: LimitsView = {
  memory: null,
  disk: null,
  reads_limited: 0,
  writes_limited: 0,
};

export function limitsView({ model, span, now_s }: ViewInput): LimitsView {
  const { cgroup } = model;
  const to_s = Math.min(span.t1_s, now_s);
  const from_s = Math.max(span.t0_s, model.since_s);
  const seconds = to_s - from_s;
  const bytes = cgroup.memory_bytes.at(to_s);
  const hits = cgroup.memory_hits.grownWithin(from_s, to_s) || 0;
  const [disk_bytes, disk_ios] = [cgroup.disk_bytes.at(to_s), cgroup.disk_ios.at(to_s)];
  const shareOf = (limited: typeof cgroup.reads_limited_us): number =>
    limited.grownWithin(from_s, to_s) / 1e6 / seconds || 0;
  return {
    memory: Number.isNaN(bytes) ? null : { bytes, hits_per_s: hits / seconds },
    disk: Number.isNaN(disk_bytes)
      ? Number.isNaN(disk_ios)
        ? null
        : { limit: disk_ios, unit: "1/s" }
      : { limit: disk_bytes, unit: "bytes/s" },
    reads_limited: shareOf(cgroup.reads_limited_us),
    writes_limited: shareOf(cgroup.writes_limited_us),
  };
}
