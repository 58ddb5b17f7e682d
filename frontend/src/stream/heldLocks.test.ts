import { expect, it } from "vitest";
import { factInput, factTables } from "../testing/factModel";
import { LedgerFrames } from "../testing/ledgers";
import { evidenceSteps } from "./findings/evidence";
import { locksView } from "./locks";
import { parkedShares } from "./parked";
import { finished } from "./steps";
import { TargetModel } from "./targetModel";

const thread = (tid: number, name: string) => ({ tid, name, start_s: -5 });

/** A thread that waits since second 2 for a mutex that another holds. */
const frames = new LedgerFrames([
  {
    ...thread(1, "waits"),
    stays: [
      [0, "on_cpu"],
      [2, "futex"],
    ],
  },
  { ...thread(2, "holds"), stays: [[0, "sleep"]] },
]);
const model = new TargetModel();
for (let t_s = 0; t_s <= 12; t_s++) {
  const names = { lock_names: [{ lock: 1, name: "mu", kind: "lock" }] };
  const holders = { holders: [{ tid: 1, lock: 1, holder: 2, since_ns: 5 }] };
  const tables = t_s === 1 ? factTables(names) : t_s === 7 ? factTables(holders) : {};
  model.ingest(frames.at(t_s, { tables }));
}

it("counts a wait under way for a lock whose holder is known", () => {
  const { state, locks } = locksView(factInput(model), null);
  expect(state).toBe("ok");
  expect(locks.map(({ name, role, by, waiters }) => [name, role, by, waiters])).toEqual([
    ["mu", "waits", "holds", 1],
  ]);
  expect(locks[0]?.wait).toBeGreaterThan(0.8);
  expect(locks[0]?.mean_s).toBeNaN();
  expect([1, 2].map(parkedShares(model))).toEqual([0, 1]);
});

it("tells since when it lasts, and who holds the lock", () => {
  const { stuck } = finished(evidenceSteps(factInput(model)));
  expect(stuck.map(({ seconds, lock, holder }) => [seconds, lock?.name, holder?.name])).toEqual([
    [10, "mu", "holds"],
  ]);
});
