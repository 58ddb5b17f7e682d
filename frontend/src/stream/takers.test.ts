import { expect, it } from "vitest";
import { factInput, factModel } from "../testing/factModel";
import { takersView } from "./takers";

const NAMES = ["worker-1", "worker-2", "main"];

function takers(t_s: number) {
  const row = (tid: number, pid: number, kernel: number, share: number, name: string) => ({
    ...{ tid, pid, kernel, name, ns: share * t_s * 1e9 },
  });
  return [
    row(1, 100, 0, 0.1, "program"),
    row(2, 100, 0, 0.2, "program"),
    row(1, 7, 0, 0.3, "ffmpeg"),
    row(3, 8, 0, 0.2, "ffmpeg"),
    row(1, 30, 1, 0.1, "ksoftirqd/0"),
    row(2, 31, 1, 0.1, "ksoftirqd/1"),
  ];
}

const process = (t_s: number) => ({
  ...{ cpu_limit: 2, cgroup_periods: 10 * t_s, cgroup_throttled: 3 * t_s },
  ...{ cgroup_throttled_us: 4e5 * t_s, gomaxprocs: 8 },
});
const model = factModel(
  NAMES,
  [0, 5, 10].map((t_s) => ({ t_s, facts: { takers: takers(t_s) }, process: process(t_s) })),
);

it("attributes run-queue delay to own threads, other processes by ID, and kernel threads", () => {
  const view = takersView(factInput(model));
  expect(view.rows.map(({ key, threads, role }) => [key, threads, role])).toEqual([
    ["own", 2, "worker-#"],
    ["process:7", 1, "worker-#"],
    ["kernel:ksoftirqd/#", 2, "worker-#"],
    ["process:8", 1, "main"],
  ]);
  expect(view.rows.map(({ delay }) => Math.round(100 * delay))).toEqual([30, 30, 20, 20]);
  expect(view.rows[1]?.share).toBeCloseTo(0.3);
  expect(view.delay).toBeCloseTo(1);
});

it("tells the processes of a group apart from others", () => {
  const rows = (t_s: number) =>
    [100, 101, 7].map((pid, k) => ({
      ...{ tid: 1, pid, kernel: 0, name: "x", ns: (k + 1) * 1e8 * t_s },
    }));
  const instants = [0, 5, 10].map((t_s) => ({ t_s, facts: { takers: rows(t_s) } }));
  const group = factModel(NAMES, instants, [100, 100, 101]);
  const { rows: found } = takersView(factInput(group));
  expect(found.map(({ kind, name }) => [kind, name])).toEqual([
    ["process", "x (7)"],
    ["own", "main"],
    ["own", "worker-1"],
  ]);
});

it("blames nobody for a CPU that was idle, nor for what is not known", () => {
  const row = (tid: number, kernel: number, name: string) => (t_s: number) => ({
    ...{ tid, pid: 0, kernel, name, ns: 0.1 * tid * t_s * 1e9 },
  });
  const rows = [row(1, 1, "idle"), row(2, 0, "unknown")];
  const facts = (t_s: number) => ({ takers: rows.map((at) => at(t_s)) });
  const model = factModel(
    NAMES,
    [0, 5, 10].map((t_s) => ({ t_s, facts: facts(t_s) })),
  );
  const { rows: found } = takersView(factInput(model));
  expect(found.map(({ kind, name }) => [kind, name])).toEqual([
    ["unknown", "not known"],
    ["idle", "nothing (idle CPU)"],
  ]);
});

it("says what the control group's limit did within the window", () => {
  expect(takersView(factInput(model)).cgroup).toEqual({
    ...{ limit: 2, gomaxprocs: 8, periods: 100, throttled: 30, throttled_share: 0.4 },
  });
  const later = takersView(factInput(model, {}, 5)).cgroup;
  expect(later).toMatchObject({ periods: 50, throttled: 15 });
});

it("counts from when a group got its limit, within the window too", () => {
  const none = { cpu_limit: null, cgroup_periods: null, cgroup_throttled: null };
  const instants = [0, 4, 6, 10].map((t_s) => ({
    t_s,
    process: t_s < 4 ? { ...process(t_s), ...none, cgroup_throttled_us: null } : process(t_s),
  }));
  const { cgroup } = takersView(factInput(factModel(NAMES, instants)));
  expect(cgroup).toMatchObject({ limit: 2, periods: 60, throttled: 18 });
});

it("follows the filter", () => {
  const view = takersView(factInput(model, { filter: "main" }));
  expect(view.rows.map(({ key, share }) => [key, share])).toEqual([["process:8", 1]]);
});

it("takes many processes of one name together", () => {
  const rows = (t_s: number) =>
    Array.from({ length: 9 }, (_, n) => ({
      ...{ tid: 1, pid: 200 + n, kernel: 0, name: "cc1", ns: 0.1 * t_s * 1e9 },
    }));
  const many = factModel(
    NAMES,
    [0, 5].map((t_s) => ({ t_s, facts: { takers: rows(t_s) } })),
  );
  const [row, ...more] = takersView(factInput(many)).rows;
  expect(row).toMatchObject({ key: "process:cc1", name: "cc1 ×9 and more", threads: 1 });
  expect(more).toEqual([]);
});
