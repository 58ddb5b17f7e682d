/** What a group adds up to, in words. */

import { expect, it } from "vitest";
import type { GroupCheck } from "../../wire/generated/models";
import { accountRows, groupDisagreement } from "./groupAccount";

const CHECK: GroupCheck = {
  cpu_by: "cpu.stat",
  threads_cpu_ns: 12_300_000_000,
  kernel_cpu_ns: 12_310_000_000,
  io_by: null,
  threads_read_bytes: null,
  kernel_read_bytes: null,
  threads_write_bytes: null,
  kernel_write_bytes: null,
};

const countsOf = (check: Partial<GroupCheck> | null) => ({
  ...{ live: 1, started: 1, ended: 0, unseen: 0, missed: 0 },
  check: check && { ...CHECK, ...check },
});

it("says both and by how much they differ", () => {
  const [[name, value] = []] = accountRows(countsOf({}));
  expect(name).toBe("CPU of the group");
  expect(value).toBe("12.3 s here, 12.3 s by the cgroup's cpu.stat (−0.08 %)");
  expect(accountRows(countsOf({}))).toHaveLength(1);
  expect(accountRows(countsOf(null))).toEqual([]);
  expect(groupDisagreement(countsOf({}))).toBeNull();
  expect(groupDisagreement(countsOf(null))).toBeNull();
});

it("has rows of disks where the kernel counts them", () => {
  const io = { io_by: "io.stat" as const, threads_read_bytes: 4096, kernel_read_bytes: 4096 };
  const rows = accountRows(countsOf({ ...io, threads_write_bytes: 5, kernel_write_bytes: 0 }));
  expect(rows.map(([name]) => name)).toEqual([
    "CPU of the group",
    "Disk reads of the group",
    "Disk writes of the group",
  ]);
  expect(rows[1]?.[1]).toContain("by the cgroup's io.stat (0 %)");
  expect(rows[2]?.[1]).not.toContain("%");
});

it("warns of more than a hundredth, unless that is next to nothing", () => {
  expect(groupDisagreement(countsOf({ threads_cpu_ns: 12_000_000_000 }))).toContain("(−2.5 %)");
  const little = {
    cpu_by: "rusage" as const,
    threads_cpu_ns: 60_000_000,
    kernel_cpu_ns: 30_000_000,
  };
  expect(groupDisagreement(countsOf(little))).toBeNull();
  const more = { ...little, threads_cpu_ns: 90_000_000 };
  expect(groupDisagreement(countsOf(more))).toContain("+200.0 %");
});
