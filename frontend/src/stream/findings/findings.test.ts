import { describe, expect, it } from "vitest";
import { roleOf } from "../../testing/evidence";
import { factInput, factModel, LEDGER_TARGET } from "../../testing/factModel";
import type { ViewInput } from "../chartView";
import { finished } from "../steps";
import { measured, nameOfRole, withProcess } from "./finding";
import { FindingsMaker, ranked } from "./findings";

const findingsView = (input: ViewInput) => finished(new FindingsMaker().make(input));

describe("the list", () => {
  const lockRows = (t_s: number) =>
    [1, 2, 3].map((tid) => ({
      lock: 5,
      tid,
      wait_ns: 4e8 * t_s,
      waits: 50 * t_s,
      wakes: 50 * t_s,
    }));
  const model = factModel(
    ["worker-1", "worker-2", "worker-3"],
    [0, 5, 10].map((t_s) => ({
      t_s,
      facts: {
        locks: lockRows(t_s),
        ...(t_s === 0 && { lock_names: [{ lock: 5, name: "pool_mu", kind: "lock" }] }),
      },
    })),
  );

  it("comes out of the model, with a link to what shows it", () => {
    const view = findingsView(factInput(model));
    expect(view.findings).toHaveLength(1);
    expect(view.findings[0]).toMatchObject({
      text: "3 threads waited 40.0 % of the time for one lock, “pool_mu”.",
      link: { panel: "waiting", lock: 5 },
    });
    expect(view.seconds).toBe(10);
  });

  it("is empty below five seconds, and says what it looked at", () => {
    const young = factModel(["a"], [{ t_s: 0 }, { t_s: 3, counters: [{ cpu_run_ns: 1 }] }]);
    expect(findingsView(factInput(young))).toMatchObject({ state: "waiting", findings: [] });
    const quiet = factModel(["a"], [{ t_s: 0 }, { t_s: 8, counters: [{ cpu_run_ns: 1 }] }]);
    const source = { ...LEDGER_TARGET.source, ledger: false, ledger_reason: "no BTF" };
    const target = { ...LEDGER_TARGET, source };
    const view = findingsView({ ...factInput(quiet), target });
    expect(view).toMatchObject({ state: "ok", findings: [] });
    expect(view.looked_at).toEqual([
      "the CPU limit of the control group",
      "connections that wait to be accepted",
      "locks of files",
      "disk waits",
      "page faults",
      "garbage collection of a JVM",
      "growing numbers of threads",
      "short-lived threads and processes",
    ]);
    expect(view.not_looked_at).toContainEqual({ subject: "locks", reason: "no BTF" });
  });

  const NUMBER = measured(1, "count", "threads");

  it("keeps its order while figures change a little", () => {
    const all = [10, 13, 12, 30].map((weight) => ({
      ...{ id: `id-${weight}`, text: "", evidence: "", advice: "", weight },
      numbers: [NUMBER, NUMBER, NUMBER] as const,
      confidence: "measured" as const,
      link: { panel: "waiting" as const, lock: null },
    }));
    const ids = (shown: readonly string[]) => ranked(all, shown).map(({ id }) => id);
    expect(ids([])).toEqual(["id-30", "id-13", "id-12", "id-10"]);
    // One that has clearly more at stake overtakes those that are shown.
    expect(ids(["id-10", "id-13"])).toEqual(["id-30", "id-10", "id-13", "id-12"]);
  });
});

it("names a process alone that is called as its thread", () => {
  expect(withProcess("nginx: worker process", "nginx: worker process (7)")).toBe(
    "nginx: worker process (7)",
  );
  expect(withProcess("worker-#", "nginx (7)")).toBe("worker-# of nginx (7)");
  expect(withProcess("worker-#", "")).toBe("worker-#");
});

it("tells threads without a name of their own from the main thread", () => {
  const python = roleOf("python", 41, { unnamed: true, mains: 1 });
  expect(nameOfRole(python)).toBe("python (1 main + 40 others)");
  expect(nameOfRole({ ...python, process: "python (7)" })).toBe("python (7) (1 main + 40 others)");
  expect(nameOfRole(roleOf("main", 1, { mains: 1 }))).toBe("main");
});
