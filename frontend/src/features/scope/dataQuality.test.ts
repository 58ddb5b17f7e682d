import { describe, expect, it } from "vitest";
import type { DataHealth } from "../../stream/targetView";
import type { GroupCheck } from "../../wire/generated/models";
import {
  accountRows,
  assessDataQuality,
  groupDisagreement,
  isThrottled,
  throttlingText,
} from "./dataQuality";

const GOOD: DataHealth = {
  cpu_check: null,
  exits_inexact: 0,
  group: null,
  discovery: null,
  rate_hz: 10,
  in_force_hz: 10,
  slowed_by_backlog: false,
  frames_dropped: 0,
  exits_without_event: 0,
  network_calls_uncounted: 0,
  counters_from: "genetlink",
  counters_disagreement: null,
  locks_reason: null,
  arriving_hz: 10,
  sample_us: 300,
  sample_mean_us: 310,
  sample_max_us: 900,
  late_us: 40,
  missed_deadlines: 0,
  exit_records_received: 12,
  exit_records_lost: 0,
  collector_cpu_percent: 1,
  overhead_percent: 1,
  budget_percent: 2,
  replay_frames: 100,
  replay_bytes: 200_000,
  unsent_frames: 0,
  sent_bytes: 1_000_000,
  coalesced: 0,
  missing_frames: 0,
  gaps: 0,
  stream: null,
  latency_ms: 8,
  frames: 1000,
  last_frame_unix_ms: 0,
  bad_frames: 0,
  bad_frame_reason: "",
  history_from_s: 0,
  history_bytes: 0,
};

describe("assessDataQuality", () => {
  it("says nothing when nothing is wrong", () => {
    expect(assessDataQuality(GOOD, "live", true)).toEqual({
      status: "ok",
      label: "Data OK",
      warnings: [],
    });
  });

  it("waits for data", () => {
    expect(assessDataQuality(null, "loading", true).status).toBe("unknown");
    expect(assessDataQuality({ ...GOOD, frames: 0 }, "live", true).status).toBe("unknown");
  });

  it.each<[string, Partial<DataHealth>, string]>([
    [
      "a disagreement",
      { counters_disagreement: "cpu_count of thread 12 is 5 by walk and 4 by taskstats" },
      "cpu_count of thread 12 is 5 by walk",
    ],
    [
      "locks without names",
      { locks_reason: "locks have no names: the process refuses" },
      "Not all locks are known or named: locks have no names: the process refuses.",
    ],
    ["a gap", { missing_frames: 30, gaps: 1 }, "30 frames missing in 1 gap"],
    ["lost exits", { exit_records_lost: 408 }, "408 exit records"],
    ["a low rate", { arriving_hz: 8.4 }, "8.4 of 10"],
    ["a spent budget", { in_force_hz: 4, arriving_hz: 4 }, "4 Hz instead of the requested 10 Hz"],
    ["missed deadlines", { missed_deadlines: 11 }, "11 deadlines"],
    ["latency", { latency_ms: 900 }, "900 ms"],
  ])("warnings on %s", (_what, part, text) => {
    const quality = assessDataQuality({ ...GOOD, ...part }, "live", true);
    expect(quality.status).toBe("warning");
    expect(quality.label).toBe("1 warning");
    expect(quality.warnings[0]).toContain(text);
  });

  it.each<[string, Partial<DataHealth>, string]>([
    ["nothing known", {}, "less CPU than the process as a whole: no known loss explains it"],
    ["records without exit", { exits_inexact: 3 }, "3 threads exited without an exit record"],
  ])("warnings on threads that do not add up: %s", (_what, part, text) => {
    const check = { process_s: 10, threads_s: 9.5 };
    const quality = assessDataQuality({ ...GOOD, ...part, cpu_check: check }, "live", true);
    expect(quality.warnings.at(-1)).toContain("5.00 % less");
    expect(quality.warnings.at(-1)).toContain(text);
  });

  it("names lost exits as the cause where there are any", () => {
    const check = { process_s: 10, threads_s: 9 };
    const quality = assessDataQuality(
      { ...GOOD, cpu_check: check, exit_records_lost: 408 },
      "live",
      true,
    );
    expect(quality.warnings.at(-1)).toContain("the kernel dropped 408 exit records");
  });

  it("lets threads and process differ by what lies between two readings", () => {
    for (const check of [
      { process_s: 10, threads_s: 9.95 },
      { process_s: 0.2, threads_s: 0.16 },
      { process_s: 0, threads_s: 0 },
    ]) {
      expect(assessDataQuality({ ...GOOD, cpu_check: check }, "live", true).status).toBe("ok");
    }
  });

  it("does not blame the way for what the budget does", () => {
    const slowed = { ...GOOD, in_force_hz: 4, arriving_hz: 3.9 };
    expect(assessDataQuality(slowed, "live", true).warnings).toHaveLength(1);
    const late = assessDataQuality({ ...slowed, arriving_hz: 2 }, "live", true);
    expect(late.warnings[1]).toBe("2.0 of 4 samples per second arrive.");
  });

  it("accepts normal figures", () => {
    const normal = { ...GOOD, missed_deadlines: 10, coalesced: 500, arriving_hz: Number.NaN };
    expect(assessDataQuality(normal, "live", true).status).toBe("ok");
  });

  it("does not miss samples of a target that has ended", () => {
    expect(
      assessDataQuality({ ...GOOD, arriving_hz: 0, latency_ms: 9000 }, "ended", true).status,
    ).toBe("ok");
  });

  it("knows that nothing new comes, unless nothing should", () => {
    expect(assessDataQuality(GOOD, "live", false).warnings[0]).toContain("No new samples");
    expect(assessDataQuality(GOOD, "quiet", true).warnings[0]).toContain("No new samples");
    expect(assessDataQuality(GOOD, "ended", false).status).toBe("ok");
  });

  it("is alarmed by frames that cannot be read", () => {
    const quality = assessDataQuality(
      { ...GOOD, bad_frames: 1, bad_frame_reason: "no Arrow" },
      "live",
      true,
    );
    expect(quality.status).toBe("error");
    expect(quality.warnings[0]).toContain("no Arrow");
  });
});

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

const THROTTLED = {
  rate_hz: 10,
  in_force_hz: 4,
  overhead_percent: 1.6,
  budget_percent: 2,
  slowed_by_backlog: false,
};

describe("throttlingText", () => {
  it("says nothing while the rate is the requested one, or not known", () => {
    expect(throttlingText({ ...THROTTLED, in_force_hz: 10 })).toBeNull();
    expect(throttlingText({ ...THROTTLED, in_force_hz: Number.NaN })).toBeNull();
    expect(isThrottled(THROTTLED)).toBe(true);
  });

  it("names both rates, the budget, and one that would do", () => {
    expect(throttlingText(THROTTLED)).toBe(
      "The collector samples at 4 Hz instead of the requested 10 Hz to stay within its CPU budget of 2 % of a core. The rate rises again when there is room. For the full rate, start tidscope with --budget-percent 6 (0: no limit).",
    );
  });

  it("names frames that wait where they are the cause, and no budget", () => {
    const text = throttlingText({ ...THROTTLED, slowed_by_backlog: true });
    expect(text).toContain("4 Hz instead of the requested 10 Hz because frames wait");
    expect(text).not.toContain("budget");
  });

  it("says when even the lowest rate is too much", () => {
    const lowest = { ...THROTTLED, in_force_hz: 1, overhead_percent: 5 };
    expect(throttlingText(lowest)).toContain("above the budget even at this rate");
    expect(throttlingText(lowest)).toContain("--budget-percent 65 ");
  });

  it("never advises less than there is", () => {
    const odd = { ...THROTTLED, in_force_hz: 8, overhead_percent: null, budget_percent: 40 };
    expect(throttlingText(odd)).toContain("--budget-percent 65 ");
    expect(throttlingText({ ...odd, overhead_percent: 0.1 })).toContain("--budget-percent 41 ");
  });
});
