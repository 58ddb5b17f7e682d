/** What the threads of a group add up to, beside the account that the kernel keeps of the group. */

import { formatDifference, formatValue } from "../../stream/format";
import type { CpuAccount, GroupCheck, GroupCounts } from "../../wire/generated/models";

/** Both are read some microseconds apart, and time is counted at ticks: they may differ by so much. */
const MANY_OFF = 0.01;
const OFF_NS = 50_000_000;

const BY: Readonly<Record<CpuAccount, string>> = {
  "cpu.stat": "the cgroup's cpu.stat",
  "cpuacct.usage": "the cgroup's cpuacct.usage",
  rusage: "rusage of its processes and the children they waited for",
};

/** "−0.08 %", of what the kernel says. */
function offText(here: number, kernel: number): string {
  const off = kernel === 0 ? Number.NaN : here / kernel - 1;
  if (Number.isNaN(off)) return "";
  return ` (${formatDifference(100 * off)})`;
}

/** "12.3 s here, 12.3 s by the cgroup's cpu.stat (−0.08 %)". */
export function cpuAccountText(check: GroupCheck): string {
  const [here, kernel] = [check.threads_cpu_ns, check.kernel_cpu_ns];
  const said = `${formatValue(here / 1e9, "s")} here, ${formatValue(kernel / 1e9, "s")}`;
  return `${said} by ${BY[check.cpu_by]}${offText(here, kernel)}`;
}

function bytesText(here: number | null, kernel: number | null, by: string): string | null {
  if (here === null || kernel === null) return null;
  const said = `${formatValue(here, "bytes")} here, ${formatValue(kernel, "bytes")}`;
  return `${said} by the cgroup's ${by}${offText(here, kernel)}`;
}

/** Rows of data quality: name, value and meaning. */
export function accountRows({
  check,
}: GroupCounts): readonly (readonly [string, string, string])[] {
  if (check == null) return [];
  const rows: (readonly [string, string, string])[] = [
    [
      "CPU of the group",
      cpuAccountText(check),
      "Live and ended threads added up, and the kernel's own account of the group, both since the first sample",
    ],
  ];
  const by = check.io_by ?? "";
  const read = bytesText(check.threads_read_bytes, check.kernel_read_bytes, by);
  const written = bytesText(check.threads_write_bytes, check.kernel_write_bytes, by);
  if (read !== null) {
    rows.push([
      "Disk reads of the group",
      read,
      "A device that stands on others (LVM, encryption) counts in the cgroup's account once for each layer",
    ]);
  }
  if (written !== null) {
    rows.push([
      "Disk writes of the group",
      written,
      "Threads count a page when they first change it; control groups of version 1 do not count pages that are written later",
    ]);
  }
  return rows;
}

/** A warning if a group's threads do not add up to it; null if they do. */
export function groupDisagreement({ check }: GroupCounts): string | null {
  if (check == null) return null;
  const [here, kernel] = [check.threads_cpu_ns, check.kernel_cpu_ns];
  const off = Math.abs(here - kernel);
  return off > OFF_NS && off > MANY_OFF * kernel
    ? `CPU time of the group: ${cpuAccountText(check)}.`
    : null;
}
