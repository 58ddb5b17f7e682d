import { expect, it } from "vitest";
import { factInput, factModel, LEDGER_TARGET } from "../testing/factModel";
import { TARGET } from "../testing/frames";
import { peerOf, wakePartners, wakesView } from "./wakes";

const NAMES = ["main", "worker-1", "worker-2", "net"];
const MS = 1e6;

function wakes(times: number) {
  const row = (waker_tid: number, wakee_tid: number, count: number, more: object = {}) => ({
    ...{ waker_tid, waker_pid: 100, wakee_tid, count: count * times },
    ...{ blocked_ns: 2 * MS * count * times, delay_ns: 0.01 * MS * count * times },
    ...more,
  });
  return [
    row(1, 2, 30),
    row(1, 3, 10),
    row(2, 3, 5),
    row(0, 4, 100, { waker_pid: 0, waker_name: "interrupt" }),
    row(900, 4, 20, { waker_pid: 900, waker_name: "postgres" }),
    row(77, 1, 4, { waker_pid: 77, waker_name: "kworker/3:1", waker_kernel: 1 }),
    row(78, 1, 2, { waker_pid: 78, waker_name: "kworker/0:2", waker_kernel: 1 }),
    row(0, 1, 3, { waker_pid: 100 }),
  ];
}

const model = factModel(NAMES, [
  { t_s: 0, facts: { wakes: wakes(1) } },
  { t_s: 5, facts: { wakes: wakes(6) } },
  { t_s: 10, facts: { wakes: wakes(11) } },
]);

it("sums wake-ups from role to role, a second", () => {
  const view = wakesView(factInput(model));
  expect(view.state).toBe("ok");
  expect(view.seconds).toBe(10);
  const edges = Object.fromEntries(view.edges.map((edge) => [edge.key, edge.per_s]));
  expect(edges).toEqual({
    "interrupt:>role:net": 100,
    "role:main>role:worker-#": 40,
    "process:900>role:net": 20,
    "kernel:kworker/#:#>role:main": 6,
    "role:worker-#>role:worker-#": 5,
    "role:>role:main": 3,
  });
  const edge = view.edges.find(({ from }) => from === "role:main");
  expect(edge).toMatchObject({ blocked: 0.08, blocked_s: 0.002, delay_s: 1e-5 });
  const worker = view.nodes.find(({ name }) => name === "worker-#");
  expect(worker).toMatchObject({ kind: "role", threads: 2, gives_per_s: 5, gets_per_s: 45 });
  expect(view.nodes.map(({ kind }) => kind).sort()).toEqual(
    ["interrupt", "kernel", "process", "role", "role", "role", "role"].sort(),
  );
});

it("says where the process is that ends most of the waiting", () => {
  const rows = (times: number) => [
    { waker_pid: 900, party: 1, wakee_tid: 4, waker_name: "redis-server", count: 10 * times },
    { waker_pid: 900, party: 2, wakee_tid: 4, waker_name: "redis-server", count: 5 * times },
  ];
  const parties = [
    { party: 1, container: "cache", cgroup: "/docker/1" },
    { party: 2, cgroup: "/other" },
  ];
  const facts = (times: number) => {
    const wakes = rows(times).map((row) => ({ ...row, blocked_ns: 5 * MS * row.count }));
    return { wakes, parties };
  };
  const cached = factModel(NAMES, [
    { t_s: 0, facts: facts(1) },
    { t_s: 5, facts: facts(2) },
  ]);
  const view = wakesView(factInput(cached));
  expect(view.edges.map(({ from }) => from)).toEqual(["process:900#1", "process:900#2"]);
  expect(peerOf(view, "role:net")?.name).toBe("process redis-server (900) in container cache");
});

it("gives those who wake a thread, and those whom it wakes", () => {
  const wakers = wakePartners(factInput(model), 4, "wakers");
  expect(wakers.map(({ name, tid, per_s }) => [name, tid, per_s])).toEqual([
    ["interrupts", null, 100],
    ["postgres (900)", null, 20],
  ]);
  const wakees = wakePartners(factInput(model), 1, "wakees");
  expect(wakees.map(({ name, tid, per_s }) => [name, tid, per_s])).toEqual([
    ["worker-1", 2, 30],
    ["worker-2", 3, 10],
  ]);
});

it("waits for a second instant, and says why there is nothing", () => {
  const young = factModel(NAMES, [{ t_s: 0, facts: { wakes: wakes(1) } }]);
  expect(wakesView(factInput(young)).state).toBe("waiting");
  const source = { ...TARGET.source, ledger: false, ledger_reason: "Linux 5.10 is too old" };
  const target = { ...LEDGER_TARGET, source };
  const input = { ...factInput(factModel(NAMES, [{ t_s: 0 }])), target };
  expect(wakesView(input)).toMatchObject({ state: "absent", reason: "Linux 5.10 is too old" });
});
