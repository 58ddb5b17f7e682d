/** Loss of a collector, and the page after its return. */

import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeBackend, HOST } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";
import type { CollectorOutage } from "../../wire/generated/models";
import { continuation } from "./TargetPage";

const LOST: CollectorOutage = {
  kind: "lost",
  at_unix_us: 1_700_000_000_000_000,
  back_unix_us: null,
  attached: [],
  failed: [],
  restored: [],
  leases: [],
};
const CRASHED: CollectorOutage = {
  ...LOST,
  kind: "crashed",
  back_unix_us: 1_700_000_004_000_000,
  attached: ["api (11)"],
  failed: ["batch (12): process 12 has exited"],
  restored: [{ pid: 11, name: "api", threads: 8, problem: "" }],
  leases: ["pool (13)"],
};

it("says that a collector crashed, then what was attached again and restored", async () => {
  const backend = new FakeBackend();
  const page = await TestPage.watching(1, { backend });
  backend.change({ hosts: [{ ...HOST, connected: false, outage: LOST }] });
  await page.settle();
  screen.getByText(/^The collector crashed or cannot be reached since/);
  backend.change({ hosts: [{ ...HOST, connected: true, outage: CRASHED }] });
  await page.settle();
  screen.getByText(/^The collector crashed at/);
  screen.getByText(/Attached again: api \(11\)\./);
  screen.getByText("CPU affinity of api (11) restored, 8 threads.");
  screen.getByText(/^pool \(13\) has its size back/);
  screen.getByText("Not done: batch (12): process 12 has exited");
  await page.click(screen.getByRole("button", { name: "Dismiss" }));
  expect(screen.queryByText(/^The collector crashed at/)).toBeNull();
});

it("says whose clock the times are of", async () => {
  const backend = new FakeBackend();
  const page = await TestPage.watching(1, { backend });
  backend.change({ hosts: [{ ...HOST, clock_ahead_us: -300_400_000 }] });
  await page.settle();
  screen.getByText(`The clock of ${HOST.name} is 5 min 00 s behind the backend's`);
  backend.change({ hosts: [{ ...HOST, clock_ahead_us: 2_000_000 }] });
  await page.settle();
  expect(screen.queryByText(/^The clock of/)).toBeNull();
});

it("says that collector and backend are of different versions", async () => {
  const backend = new FakeBackend();
  const page = await TestPage.watching(1, { backend });
  await page.settle();
  expect(screen.queryByText(/is tidscope/)).toBeNull();
  backend.change({ hosts: [{ ...HOST, collector: { ...HOST.collector, version: "0.0.9" } }] });
  await page.settle();
  screen.getByText(`The collector of ${HOST.name} is tidscope 0.0.9, the backend 0.1.0`);
});

it("says that one was stopped on purpose", async () => {
  const backend = new FakeBackend();
  const page = await TestPage.watching(1, { backend });
  backend.change({ hosts: [{ ...HOST, connected: false, outage: { ...LOST, kind: "ended" } }] });
  await page.settle();
  screen.getByText(/^The collector was stopped at/);
});

it("follows a target to the one in its place", () => {
  const old = { ...TARGET, state: "detached" as const };
  const next = { ...TARGET, id: "t-100-11111111", continues: TARGET.id };
  const live = { type: "live_state" as const, hosts: [], targets: [old, next], recordings: [] };
  expect(continuation(live, old)).toBe(next.id);
  expect(continuation(live, next)).toBeNull();
  expect(continuation({ ...live, targets: [old] }, old)).toBeNull();
});
