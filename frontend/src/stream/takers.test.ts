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

it("sums processes that ended before their names were read", () => {
  const row = (pid: number, ns: number) => ({ tid: 1, pid, kernel: 0, name: "", ns });
  const short = factModel(
    NAMES,
    [0, 5, 10].map((t_s) => ({ t_s, facts: { takers: [row(7, 1e8 * t_s), row(8, 2e8 * t_s)] } })),
  );
  const { rows: found } = takersView(factInput(short));
  expect(found.map(({ kind, name }) => [kind, name])).toEqual([
    ["process", "short-lived processes"],
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

/** Rows of one waiting thread by processes of one name, and what is known of these. */
function pythons(t_s: number, ids: readonly (readonly [pid: number, party: number])[]) {
  const rows = ids.map(([pid, party]) => ({
    ...{ tid: 1, pid, party, kernel: 0, name: "python", ns: 0.1 * t_s * 1e9 },
  }));
  const described = [
    { container: "web-1", unit: "docker.service", cgroup: "/system.slice/docker-1.scope" },
    { unit: "session-3.scope", cgroup: "/user.slice/session-3.scope" },
    { cgroup: "/batch", title: "python loop.py" },
    { many: 1, cgroup: "/elsewhere", title: "python one.py" },
  ];
  const parties = described.map((more, at) => ({ party: at + 1, name: "python", ...more }));
  return { takers: rows, parties };
}

function pythonsOf(
  ids: readonly (readonly [pid: number, party: number])[],
  by_program = false,
  process: object = {},
) {
  const model = factModel(
    NAMES,
    [0, 5].map((t_s) => ({ t_s, facts: pythons(t_s, ids) })),
  );
  const input = factInput(model, { by_program });
  const target = { ...input.target, process: { ...input.target.process, ...process } };
  return takersView({ ...input, target }).rows;
}

it("tells processes of one name apart by ID and start, and says where they run", () => {
  const ids = [
    [7, 1],
    [8, 2],
    [9, 3],
    [7, 4],
  ] as const;
  const here = { container: null, unit: null, cgroup: "/app" };
  const rows = pythonsOf(ids, false, here).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  expect(rows.map(({ key, name, where }) => [key, name, where])).toEqual([
    ["process:7#1", "python (7)", "in container web-1"],
    ["process:7#4", "python (7) and more", ""],
    ["process:8#2", "python (8)", "in session-3.scope"],
    ["process:9#3", "python (9)", "in control group batch"],
  ]);
  expect(rows[3]?.detail).toBe("python loop.py\ncontrol group /batch");
});

it("names no place that is the target's own", () => {
  const where = (process: object) => pythonsOf([[8, 2]], false, process)[0]?.where;
  expect(where({ unit: "session-3.scope", cgroup: "/user.slice/session-3.scope" })).toBe("");
  const container = { id: "c".repeat(64), name: "web-1", runtime: "docker" };
  expect(where({ container, unit: "docker.service", cgroup: "/c" })).toBe("in session-3.scope");
  const batch = (process: object) => pythonsOf([[9, 3]], false, process)[0]?.where;
  expect(batch({ unit: null, cgroup: "/batch" })).toBe("");
  expect(batch({ container, unit: null, cgroup: "/c" })).toBe("outside the container");
});

it("sums processes by program if asked", () => {
  const ids = [
    [7, 1],
    [8, 2],
    [7, 3],
  ] as const;
  const [row, ...more] = pythonsOf(ids, true);
  expect(row).toMatchObject({ key: "process:python", name: "python ×3", where: "" });
  expect(row?.share).toBeCloseTo(1);
  expect(more).toEqual([]);
  expect(pythonsOf([...ids, [9, 4]], true)[0]?.name).toBe("python ×4 and more");
  expect(pythonsOf([[7, 1]], true)[0]?.name).toBe("python (7)");
});

it("takes many processes of one name together in runs that do not tell them apart", () => {
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
